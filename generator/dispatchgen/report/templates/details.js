// What there is to know of one row, in a dialog.

class Details {
  constructor(rows, data, dialog, onClose) {
    Object.assign(this, { rows, dialog, commands: data.commands, verdicts: data.verdicts });
    this.part = (name) => dialog.querySelector(`#details-${name}`);
    dialog.addEventListener("close", onClose);
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    this.part("close").addEventListener("click", () => dialog.close());
    this.part("copy").addEventListener("click", () => this.copy());
  }

  show(row, note) {
    const get = (column) => this.rows.get(column, row);
    this.part("title").textContent = rowName(this.rows, row);
    this.part("note").textContent = note;
    this.part("copied").textContent = "";
    const items = this.items(get, row).filter(([, value]) => value !== "" && value !== "-");
    this.part("list").replaceChildren(...items.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)]));
    this.part("failure").hidden = !get("failure");
    this.part("failure").querySelector("pre").textContent = get("failure");
    this.part("command").hidden = get("state") === "gone";
    this.part("command").querySelector("pre").textContent = this.command(get);
    if (!this.dialog.open) this.dialog.showModal();
    this.dialog.scrollTop = 0;
  }

  items(get, row) {
    const time = get("seconds") === null ? "" : `${formatSeconds(get("seconds"))} ${formatHalf(get("half"))}`;
    return [
      ["results", get("run")],
      ["model", get("model")],
      ["backend", get("backend")],
      ["device", get("device")],
      ["call", get("call")],
      ["kernel", get("variant") || (get("kind") === "model" ? "" : "the compiler's own")],
      ["caches", get("caches")],
      ["operation", get("operation")],
      ["IREE's symbol", get("symbol")],
      ["workload", get("workload")],
      ["push constants", get("constants")],
      ["bindings", get("bindings") === null ? "" : `${formatCount(get("bindings"))} B in all`],
      ["buffers hold", get("data")],
      ["time", time],
      ["noise of rounds", formatPercent(get("noise"))],
      ["rounds", get("rounds") === null ? "" : String(get("rounds"))],
      ["count per call", formatCount(get("per_call"))],
      ["time x count", formatSeconds(get("total"))],
      ["share", formatPercent(get("share"))],
      ["host time per call", formatSeconds(get("overhead"))],
      ["size of its module", get("size") === null ? "" : `${formatCount(get("size"))} B`],
      ["base", formatSeconds(get("base"))],
      ["ratio to the base", get("ratio") === null ? "" : `${formatRatio(get("ratio"))} (${formatInterval(get("low"), get("high")) || "no interval"})`],
      ["verdict", verdictOf(this.rows, row, this.verdicts)],
      ["because", get("note")],
    ];
  }

  // The command for sh that measures a row again.
  command(get) {
    const quote = (word) => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
    const words = [];
    for (const part of this.commands[get("kind") === "model" ? "model" : get("caches")]) {
      if (typeof part === "string") words.push(part);
      else if (get(part[1])) words.push(...[part[0], get(part[1]) + (part[2] ?? "")].filter(Boolean));
    }
    return words.map(quote).join(" ");
  }

  async copy() {
    const shown = this.part("command").querySelector("pre");
    try {
      await navigator.clipboard.writeText(shown.textContent);
      this.part("copied").textContent = "copied";
    } catch {
      getSelection().selectAllChildren(shown);
      this.part("copied").textContent = "selected: copy it with the keyboard";
    }
  }
}
