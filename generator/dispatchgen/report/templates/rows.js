// The rows: reading, filtering and sorting them. Nothing here touches the page.

const SEARCHED = [
  "model", "backend", "device", "call", "benchmark", "variant", "caches", "operation", "symbol", "failure", "state", "verdict",
];
const KEY = ["model", "backend", "device", "call", "kind", "benchmark", "variant", "caches"];

class Rows {
  constructor(data) {
    this.length = data.rows;
    this.texts = data.texts;
    this.columns = data.columns;
    for (const [name, values] of Object.entries(this.columns)) {
      if (values === 0) this.columns[name] = new Uint8Array(this.length); // the same in all rows
    }
    this.orders = new Map();
  }

  // A text or a number of a row; null: there is none.
  get(column, row) {
    const value = this.columns[column][row];
    return column in this.texts ? this.texts[column][value] : value;
  }

  // How often each text of a column is there.
  counts(column) {
    const found = new Array(this.texts[column].length).fill(0);
    for (const number of this.columns[column]) found[number]++;
    return found;
  }

  // The numbers of the rows that have all words, and in the columns of `facets` these texts.
  matching(words, facets) {
    const wanted = Object.entries(facets).map(([name, text]) => [this.columns[name], this.texts[name].indexOf(text)]);
    const searches = words.toLowerCase().split(/\s+/).filter(Boolean).map((word) => this.search(word));
    const found = [];
    for (let row = 0; row < this.length; row++) {
      const has = (columns) => columns.some(([column, hits]) => hits[column[row]]);
      if (wanted.every(([column, number]) => column[row] === number) && searches.every(has)) found.push(row);
    }
    return found;
  }

  // The columns that have a word anywhere, each with which of its texts do.
  search(word) {
    const found = [];
    for (const name of SEARCHED) {
      const hits = this.texts[name].map((text) => text.toLowerCase().includes(word));
      if (hits.includes(true)) found.push([this.columns[name], hits]);
    }
    return found;
  }

  // Sorts numbers of rows. What has no value comes last, whatever the direction; equals stay in the order of importance.
  sort(found, column, descending) {
    const keys = this.order(column);
    const sign = descending ? -1 : 1;
    return found.sort((a, b) => {
      const left = keys[a], right = keys[b];
      if (left === right) return a - b;
      if (Number.isNaN(left)) return Number.isNaN(right) ? a - b : 1;
      if (Number.isNaN(right)) return -1;
      return sign * (left - right);
    });
  }

  // A number for each row that has the order of a column; NaN: no value.
  order(column) {
    if (!this.orders.has(column)) {
      const values = this.columns[column];
      let keys;
      if (column in this.texts) {
        const texts = this.texts[column];
        const collator = new Intl.Collator("en", { numeric: true });
        const ranks = new Float64Array(texts.length);
        const sorted = texts.map((_, number) => number).sort((a, b) => collator.compare(texts[a], texts[b]));
        sorted.forEach((number, rank) => { ranks[number] = texts[number] === "" ? NaN : rank; });
        keys = Float64Array.from(values, (number) => ranks[number]);
      } else {
        keys = Float64Array.from(values, (value) => value === null ? NaN : value);
      }
      this.orders.set(column, keys);
    }
    return this.orders.get(column);
  }

  // The part of a link to a row behind `row=`.
  link(row) {
    const run = this.get("run", row);
    const parts = KEY.map((column) => this.get(column, row));
    return (run ? [run, ...parts] : parts).map(encodeURIComponent).join("/");
  }

  // The row that a link names; -1: there is none.
  find(link) {
    const parts = link.split("/").map(decodeURIComponent);
    const run = parts.length > KEY.length ? parts.shift() : "";
    const wanted = [["run", run], ...KEY.map((column, index) => [column, parts[index]])];
    const numbers = wanted.map(([column, text]) => [this.columns[column], this.texts[column].indexOf(text)]);
    for (let row = 0; row < this.length; row++) {
      if (numbers.every(([column, number]) => column[row] === number)) return row;
    }
    return -1;
  }
}
