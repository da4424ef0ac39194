// The same as a table: what the pictures show at the playhead, for those who read rather than look. A row is chosen like a bar.

const MOST_LINES = 60;

Object.assign(Stage.prototype, {
  fillTables() {
    const head = (names) => el("tr", {}, ...names.map((name) => el("th", { scope: "col" }, name)));
    const tables = this.views.map((view, side) => {
      const { world } = view, found = [];
      for (const wait of view.waiting) { if (found.length > MOST_LINES) break; found.push([wait[0], tr("waiting")]); }
      const order = [...view.stays].sort((a, b) => view.state.held[b] - view.state.held[a]);
      for (const s of order) { if (found.length > MOST_LINES) break; found.push([world.stays.request[s], tr("in the batch")]); }
      const more = view.waiting.length + view.stays.length - MOST_LINES, title = this.head.titles[side];
      const values = { side: "AB"[side], title, time: this.t.toFixed(2), free: view.free, blocks: world.capacity };
      return el("table", {}, el("caption", {}, tr("{side} {title} at {time} s: {free} of {blocks} blocks free", values)),
        el("thead", {}, head([tr("request"), tr("state"), tr("now")])),
        el("tbody", {}, ...found.slice(0, MOST_LINES).map(([r, state]) => this.tableRow(view, side, r, state)), more > 0 ? el("tr", {}, el("td", { colspan: "3" }, tr("and {n} more", { n: more }))) : null));
    });
    const active = this.root.getRootNode().activeElement?._request;
    this.tables.replaceChildren(...tables);
    if (active !== undefined) [...this.tables.querySelectorAll("button")].find((one) => one._request === active)?.focus({ preventScroll: true });
  },

  tableRow(view, side, r, state) {
    const { world } = view, mine = this.placeIn(side, r), button = el("button", { type: "button", class: "link", "aria-pressed": String(mine !== null && mine === this.pinned) }, world.name(r));
    button._request = `${side}|${world.names[r]}`;
    if (mine === null) button.disabled = true;
    button.onclick = () => this.attend(mine === this.pinned ? null : mine, true);
    return el("tr", { class: mine !== null && mine === (this.hover ?? this.pinned) ? "focus" : null }, el("th", { scope: "row" }, classMark(world.role(r)), " ", button), el("td", {}, state), el("td", {}, requestLine(view, r)));
  },

  toggleTable() {
    this.tables.hidden = !this.tables.hidden;
    if (!this.tables.hidden) { this.fillTables(); this.tables.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }); }
  },
});
