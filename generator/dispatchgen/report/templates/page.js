// The page: what is chosen stands in the address, behind `#`, and is read from there.

const FACETS = ["run", "model", "backend", "device", "call", "variant", "caches", "verdict", "state"];
const MOST_CHOICES = 2000;
const byId = (id) => document.getElementById(id);

const data = JSON.parse(byId("data").textContent);
const rows = new Rows(data);
const kinds = new Map(data.shown.map(([id, , kind]) => [id, kind]));
const table = new Table(rows, data.shown, data.verdicts, { scroller: byId("scroller"), table: byId("table"), body: byId("rows-body") });
const details = new Details(rows, data, byId("details"), closed);
const state = { words: "", facets: {}, sort: "", descending: false, row: "" };
let shownFor; // what of the state the table shows
let openedElsewhere = false;

// What the address says; null: it is an anchor of the page.
function readAddress() {
  const hash = location.hash.slice(1);
  if (hash !== "" && !hash.includes("=")) return null;
  const found = { words: "", facets: {}, sort: "", descending: false, row: "" };
  for (const part of hash.split("&")) {
    const name = part.slice(0, part.indexOf("="));
    const value = part.slice(part.indexOf("=") + 1);
    try {
      if (name === "row") found.row = decodeURIComponent(value) && value;
      else if (name === "q") found.words = decodeURIComponent(value);
      else if (name === "sort") {
        const column = decodeURIComponent(value).replace(/^-/, "");
        if (kinds.has(column)) Object.assign(found, { sort: column, descending: value.startsWith("-") });
      } else if (FACETS.includes(name)) {
        const text = decodeURIComponent(value);
        if (rows.texts[name].includes(text)) found.facets[name] = text;
      }
    } catch {
      // not an address that this page made
    }
  }
  return found;
}

function address(chosen) {
  const parts = Object.entries(chosen.facets).map(([column, text]) => `${column}=${encodeURIComponent(text)}`);
  if (chosen.words) parts.push(`q=${encodeURIComponent(chosen.words)}`);
  if (chosen.sort) parts.push(`sort=${chosen.descending ? "-" : ""}${chosen.sort}`);
  if (chosen.row) parts.push(`row=${chosen.row}`);
  return `#${parts.join("&")}`;
}

function choose(changes) {
  Object.assign(state, changes);
  history.replaceState(null, "", address(state));
  update();
}

// Shows what the state says.
function update() {
  const { row: link, ...choice } = state;
  const row = link ? rows.find(link) : -1;
  const wanted = JSON.stringify(choice);
  if (wanted !== shownFor) {
    shownFor = wanted;
    const found = rows.matching(state.words, state.facets);
    if (state.sort) rows.sort(found, state.sort, state.descending);
    table.show(found, row);
    const order = state.sort ? "" : ", the most important first";
    byId("number").textContent = `${formatCount(found.length)} of ${formatCount(rows.length)} rows${order}`;
    for (const header of table.table.tHead.rows[0].cells) {
      const is = header.dataset.column === state.sort;
      if (is) header.ariaSort = state.descending ? "descending" : "ascending";
      else header.removeAttribute("aria-sort");
    }
    byId("filter").value = state.words;
    for (const select of byId("facets").querySelectorAll("select")) select.value = state.facets[select.name] ?? "";
  }
  table.mark(row);
  if (row >= 0) open(row);
  else if (link) byId("number").textContent += `; there is no row ${decodeURIComponent(link)}`;
}

// Shows the details of a row. The table comes into view, unless a link elsewhere on the page led here: there one goes on.
function open(row) {
  const from = document.activeElement;
  if (!details.dialog.open) openedElsewhere = from !== document.body && !table.scroller.contains(from);
  if (!openedElsewhere) table.bringIntoView(row);
  details.show(row, table.found.includes(row) ? "" : "The filter leaves this row out of the table.");
}

function closed() {
  const row = table.current;
  choose({ row: "" });
  if (!openedElsewhere) table.focus(row);
}

function followAddress() {
  const found = readAddress();
  if (found === null) return;
  // A link of the page names a row alone: what was chosen stays.
  if (location.hash.startsWith("#row=") && !location.hash.includes("&") && shownFor !== undefined) choose({ row: found.row });
  else choose(found);
}

function addSorting() {
  for (const header of table.table.tHead.rows[0].cells) {
    const column = header.dataset.column;
    const isNumber = !(column in rows.texts);
    const button = make("button", { type: "button", title: header.title }, header.textContent);
    header.replaceChildren(button);
    button.addEventListener("click", () => {
      if (state.sort !== column) choose({ sort: column, descending: isNumber });
      else if (state.descending === isNumber) choose({ descending: !isNumber });
      else choose({ sort: "", descending: false });
    });
  }
}

function addFacets() {
  for (const column of FACETS) {
    const texts = rows.texts[column];
    if (texts.length < 2 || texts.length > MOST_CHOICES) continue;
    const counts = rows.counts(column);
    const order = texts.map((_, number) => number).sort((a, b) => texts[a].localeCompare(texts[b], "en", { numeric: true }));
    const title = { run: "results", variant: "kernel" }[column] ?? column;
    const select = make("select", { name: column }, make("option", { value: "" }, "all"));
    for (const number of order) {
      if (texts[number] === "") continue;
      const words = column === "verdict" ? data.verdicts[texts[number]][1] : texts[number];
      select.append(make("option", { value: texts[number] }, `${words} (${formatCount(counts[number])})`));
    }
    select.addEventListener("change", () => {
      const facets = { ...state.facets, [column]: select.value };
      if (!select.value) delete facets[column];
      choose({ facets });
    });
    byId("facets").append(make("label", {}, title, select));
  }
}

function addTheme() {
  const select = byId("theme");
  const use = (theme) => {
    document.documentElement.dataset.theme = theme;
    select.value = theme;
  };
  select.addEventListener("change", () => {
    use(select.value);
    try {
      localStorage.setItem("dispatchgen-theme", select.value);
    } catch {
      // the browser keeps nothing for this page
    }
  });
  try {
    const kept = localStorage.getItem("dispatchgen-theme");
    if (["light", "dark"].includes(kept)) use(kept);
  } catch {
    // the same
  }
}

addSorting();
addFacets();
addTheme();
byId("filter").addEventListener("input", () => choose({ words: byId("filter").value }));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => choose({ words: "", facets: {}, sort: "", descending: false }));
for (const element of document.querySelectorAll("#filters, .theme, .keys")) element.hidden = false;
addEventListener("hashchange", followAddress);
Object.assign(state, readAddress() ?? {});
update();
