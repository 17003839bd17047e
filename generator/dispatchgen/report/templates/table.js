// The table: cells as elements and texts, never as markup; of many rows only those that can be seen are there.

const ROW_HEIGHT = 32;
const AROUND = 12;
const MOST_PRINTED = 200;
const SVG = "http://www.w3.org/2000/svg";
const UNITS = [[1, "s"], [1e-3, "ms"], [1e-6, "us"], [1e-9, "ns"]];

function make(tag, properties, ...children) {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  element.append(...children);
  return element;
}

function formatSeconds(seconds) {
  if (seconds === null) return "-";
  const [scale, unit] = UNITS.find(([scale]) => seconds >= scale * 0.9995) ?? UNITS.at(-1);
  const value = seconds / scale;
  return `${value.toFixed(value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2)} ${unit}`;
}

const formatPercent = (part) => part === null ? "-" : `${(part * 100).toFixed(1)} %`;
const formatHalf = (half) => half === null ? "" : half < 1 ? `± ${formatPercent(half)}` : "± >100 %";
const formatCount = (count) => count === null ? "?" : String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const formatRatio = (ratio) => ratio === null ? "-" : ratio < 0.01 ? "<0.01" : ratio < 100 ? ratio.toFixed(3) : ">100";
const formatInterval = (low, high) => low === null || high === null ? "" : `${formatRatio(low)} to ${formatRatio(high)}`;

// The bar of a ratio, as the page has them elsewhere.
function ratioBar(ratio, low, high) {
  const at = (value) => Math.round(10 * (60 + Math.max(-1, Math.min(1, Math.log(value) / Math.log(1.25))) * 54)) / 10;
  const draw = (tag, className, attributes) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries({ class: className, ...attributes })) element.setAttribute(name, value);
    return element;
  };
  const bar = draw("svg", "bar", { viewBox: "0 0 120 14", width: 120, height: 14, "aria-hidden": "true" });
  const add = (...drawn) => bar.append(draw(...drawn));
  add("line", "bar-track", { x1: 4, y1: 7, x2: 116, y2: 7 });
  add("line", "bar-one", { x1: 60, y1: 0, x2: 60, y2: 14 });
  if (low !== null && high !== null) add("line", "bar-interval", { x1: at(low), y1: 7, x2: at(high), y2: 7 });
  if (at(ratio) >= 114) add("path", "bar-point", { d: "M112,2 L120,7 L112,12 Z" });
  else if (at(ratio) <= 6) add("path", "bar-point", { d: "M8,2 L0,7 L8,12 Z" });
  else add("circle", "bar-point", { cx: at(ratio), cy: 7, r: 3.5 });
  return bar;
}

function rowName(rows, row) {
  const name = rows.get("benchmark", row) || "whole model";
  return rows.get("kind", row) === "initializer" ? `${name} (when loaded)` : name;
}

function verdictOf(rows, row, verdicts) {
  const name = rows.get("verdict", row);
  if (!name) return "";
  const [sign, words] = verdicts[name];
  const shown = make("span", { ariaHidden: "true" }, sign);
  return make("span", { className: `verdict ${name}` }, shown, ` ${words}`);
}

class Table {
  // `columns` are lists of id, title and kind.
  constructor(rows, columns, verdicts, elements) {
    Object.assign(this, { rows, columns, verdicts, ...elements });
    this.found = [];
    this.active = 0; // position in `found` of the row that Tab goes to
    this.current = -1; // the row whose details are shown
    this.drawn = new Map(); // row -> its element
    this.above = this.spacer();
    this.below = this.spacer();
    this.body.replaceChildren(this.above, this.below);
    this.table.classList.add("windowed");
    const longest = (texts) => texts.reduce((most, text) => Math.max(most, text.length), 0);
    this.longest = new Map(columns.map(([id]) => [id, longest(rows.texts[id] ?? [])]));
    this.scroller.tabIndex = -1;
    this.scroller.addEventListener("scroll", () => this.scheduled ??= requestAnimationFrame(() => this.draw()));
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resized()).observe(this.scroller);
    this.resized();
    addEventListener("beforeprint", () => this.print(true));
    addEventListener("afterprint", () => this.print(false));
  }

  spacer() {
    const cell = make("td", { colSpan: this.columns.length });
    const row = make("tr", { className: "spacer" }, cell);
    row.setAttribute("aria-hidden", "true");
    return row;
  }

  resized() {
    const narrow = this.scroller.clientWidth < 700;
    if (narrow !== this.narrow) {
      this.narrow = narrow;
      this.setWidths();
    }
    this.draw();
  }

  // Widths are of all rows, so that columns stay where they are while one scrolls.
  setWidths() {
    const widths = { name: 15, text: 8, count: 10, time: 22, seconds: 15, percent: 11, ratio: 40, verdict: 24, reason: 40 };
    const group = make("colgroup");
    let sum = 0;
    for (const [id, title, kind] of this.columns) {
      const longest = this.longest.get(id);
      const wide = kind === "name" ? Math.min(longest, this.narrow ? 20 : 48) + 4 : kind === "text" ? Math.min(longest, 28) + 4 : 0;
      const characters = Math.max(widths[kind], wide, title.length + 6);
      const column = make("col");
      column.style.width = `${characters * 7.6}px`;
      sum += characters * 7.6;
      group.append(column);
    }
    this.table.style.minWidth = `${sum}px`;
    this.table.querySelector("colgroup")?.remove();
    this.table.caption.after(group);
  }

  // Shows these rows, from the first on, or from `row` where it is among them.
  show(found, row = -1) {
    this.found = found;
    this.clear();
    this.table.setAttribute("aria-rowcount", found.length + 1);
    const position = row < 0 ? -1 : found.indexOf(row);
    this.active = Math.max(0, position);
    this.draw();
    if (position >= 0) this.reveal(position);
    else this.scroller.scrollTop = 0;
    this.draw();
  }

  clear() {
    for (const element of this.drawn.values()) element.remove();
    this.drawn.clear();
  }

  // Marks the row whose details are shown; -1: none.
  mark(row) {
    this.drawn.get(this.current)?.removeAttribute("aria-current");
    this.current = row;
    this.drawn.get(row)?.setAttribute("aria-current", "true");
  }

  // On paper there are the first rows, and no others.
  print(printing) {
    this.printing = printing;
    this.draw();
  }

  // Makes the rows that can be seen, and some around them, be there.
  draw() {
    this.scheduled = undefined;
    const { printing } = this;
    const { scrollTop, clientHeight } = this.scroller;
    const first = printing ? 0 : Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - AROUND);
    const end = printing ? MOST_PRINTED : Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + AROUND;
    const last = Math.min(this.found.length, end);
    const hadFocus = this.body.contains(document.activeElement);
    if (hadFocus) this.active = Math.max(first, Math.min(this.active, last - 1));
    const visible = new Set(this.found.slice(first, last));
    for (const [row, element] of this.drawn) {
      if (!visible.has(row)) {
        element.remove();
        this.drawn.delete(row);
      }
    }
    this.above.firstChild.style.height = `${first * ROW_HEIGHT}px`;
    this.below.firstChild.style.height = printing ? "0" : `${(this.found.length - last) * ROW_HEIGHT}px`;
    let before = this.above;
    for (let position = first; position < last; position++) {
      const row = this.found[position];
      let element = this.drawn.get(row);
      if (element === undefined) {
        element = this.row(row, position);
        this.drawn.set(row, element);
      }
      if (before.nextSibling !== element) before.after(element);
      element.querySelector("a").tabIndex = position === this.active ? 0 : -1;
      before = element;
    }
    if (!visible.has(this.found[this.active]) && last > first) this.link(this.active = first).tabIndex = 0;
    if (hadFocus) this.link(this.active)?.focus({ preventScroll: true });
  }

  link(position) {
    return this.drawn.get(this.found[position])?.querySelector("a");
  }

  row(row, position) {
    const element = make("tr", {}, ...this.columns.map((column) => this.cell(column, row)));
    element.setAttribute("aria-rowindex", position + 2);
    if (row === this.current) element.setAttribute("aria-current", "true");
    return element;
  }

  cell([id, , kind], row) {
    const get = (column) => this.rows.get(column, row);
    if (kind === "name") {
      const name = rowName(this.rows, row);
      return make("th", { scope: "row", title: name }, make("a", { href: `#row=${this.rows.link(row)}` }, name));
    }
    const number = (...texts) => make("td", { className: "number" }, ...texts);
    const span = (className, text) => make("span", { className }, text);
    if (kind === "time") return number(`${formatSeconds(get("seconds"))} `, span("half", formatHalf(get("half"))));
    if (kind === "seconds") return number(formatSeconds(get(id)));
    if (kind === "count") return number(formatCount(get(id)));
    if (kind === "percent") return number(formatPercent(get(id)));
    if (kind === "ratio") {
      const [ratio, low, high] = [get("ratio"), get("low"), get("high")];
      if (ratio === null) return make("td", {}, "-");
      const texts = [span("figure", formatRatio(ratio)), span("interval", formatInterval(low, high))];
      return make("td", { className: "ratio" }, texts[0], ratioBar(ratio, low, high), texts[1]);
    }
    if (kind === "verdict") return make("td", {}, verdictOf(this.rows, row, this.verdicts));
    return make("td", { title: get(id), className: kind === "reason" ? "failed" : "" }, get(id));
  }

  // Moves the focus among rows.
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey || !this.body.contains(event.target)) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const last = this.found.length - 1;
    const { active } = this;
    const moves = {
      ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page, Home: 0, End: last,
    };
    if (!(event.key in moves)) return;
    event.preventDefault();
    this.focus(this.found[Math.max(0, Math.min(last, moves[event.key]))]);
  }

  // Scrolls so that a row is seen, below the header, which stays at the top.
  reveal(position) {
    const header = this.table.tHead.offsetHeight + this.table.caption.offsetHeight;
    const top = position * ROW_HEIGHT + header;
    const { scrollTop, clientHeight } = this.scroller;
    if (top - header < scrollTop) this.scroller.scrollTop = top - header;
    else if (top + ROW_HEIGHT > scrollTop + clientHeight) this.scroller.scrollTop = top + 2 * ROW_HEIGHT - clientHeight;
  }

  // Scrolls table and page so that a row is seen. Returns its position; -1: it is not among those that are shown.
  bringIntoView(row) {
    const position = this.found.indexOf(row);
    if (position >= 0) {
      this.active = position;
      this.reveal(position);
      this.draw();
      this.drawn.get(row).scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    return position;
  }

  focus(row) {
    const position = this.bringIntoView(row);
    if (position >= 0) this.link(position).focus({ preventScroll: true });
  }
}
