// The keys, and what the colours and hatches of the stage mean: a row of keys, and the rest when `?` is pressed.

const KEYS = () => [["Space", tr("play")], ["←", ""], ["→", tr("step")], ["n", ""], ["p", tr("next, previous inversion")], ["w", tr("worst wait")], ["b", tr("whole run")], ["t", tr("table")], ["?", tr("help")]];
const MORE_KEYS = () => [
  [["PageUp", "PageDown"], tr("one second back or on")], [["Home", "End"], tr("begin and end of the run")], [["f"], tr("next urgent request that waits")], [["Esc"], tr("nobody in focus, help closed")],
  [["[", "]"], tr("slower, faster")], [["1", "…", "5"], tr("card as A, with Shift as B")], [["+", "−"], tr("zoom the window, also Ctrl with the wheel")], [["Tab"], tr("to playhead, frame and its handles; arrows move them")],
];

class Help {
  constructor(stage) {
    this.stage = stage;
    this.keys = el("div", { class: "keys" });
    this.marks = el("dl", { class: "legend" });
    this.more = el("dl", { class: "legend shortcuts" });
    this.titles = [el("h3"), el("h3")];
    this.note = el("p");
    this.root = el("section", { class: "help", hidden: true }, el("div", {}, this.titles[0], this.marks), el("div", {}, this.titles[1], this.note, this.more));
    this.write();
  }

  write() {
    this.keys.replaceChildren(...KEYS().flatMap(([key, text]) => [el("kbd", {}, key), text ? el("span", {}, text) : null]).filter(Boolean));
    say(this.titles[0], tr("What the stage shows"));
    say(this.titles[1], tr("Keys"));
    say(this.note, tr("Letters, digits and ? act outside of fields and buttons; Space, arrows and the others once the stage was clicked or has the focus."));
    this.root.setAttribute("aria-label", tr("Help"));
    this.more.replaceChildren(...MORE_KEYS().flatMap(([keys, text]) => [el("dt", {}, ...keys.map((key) => (key === "…" ? key : el("kbd", {}, key)))), el("dd", {}, text)]));
    if (!this.root.hidden) this.draw();
  }

  toggle(open = this.root.hidden) {
    this.root.hidden = !open;
    if (open) { this.draw(); this.root.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" }); }
  }

  // Samples are painted by what paints the stage, so that they cannot say something else.
  draw() {
    const { p, panels } = this.stage, { memory } = panels[0], map = (look) => (g) => { g.setTransform(1, 0, 0, 1, 0, 0); g.fillStyle = memory.style(look, p); g.fillRect(0, 0, g.canvas.width, g.canvas.height); };
    const flat = (fill) => (g, w, h) => { g.fillStyle = fill; g.fillRect(0, 0, w, h); };
    const rows = [
      [map(0), tr("a block that is written, in the colour of its class; the least urgent class has a dot in each")],
      [map(3), tr("promised: granted to a request, not written yet")],
      [map(8), tr("lent: in the buffer on loan to less urgent requests, to be taken back")],
      [map(10), tr("reserved: kept for urgent requests and idle; the dashed line is where the buffer begins")],
      [flat(p.free), tr("free")],
      [(g, w, h) => { g.strokeStyle = p.culprit; g.lineWidth = 2.2; g.strokeRect(1.5, 1.5, w - 3, h - 3); }, tr("culprit: the less urgent request that holds most while an urgent one waits for blocks")],
      [(g, w, h, scale) => { g.fillStyle = inversionHatch(g, p, scale); g.fillRect(0, 4, w, h - 8); g.strokeStyle = p.culprit; g.strokeRect(0.5, 4.5, w - 1, h - 9); }, tr("inversion: an urgent request waits for what less urgent ones hold")],
      [flat(p.waiting), tr("any other wait")],
      [(g, w, h) => { g.fillStyle = p.urgent; g.fillRect(0, 4, w / 3, h - 8); g.fillStyle = p.pale[0]; g.fillRect(w / 3, 4, w, h - 8); }, tr("in the batch: prefill dark, decode pale")],
      [(g, w, h) => { g.fillStyle = p.culprit; g.beginPath(); g.moveTo(w / 2 - 5, h / 2 - 4); g.lineTo(w / 2 + 5, h / 2 - 4); g.lineTo(w / 2, h / 2 + 5); g.fill(); }, tr("bypass: a less urgent request was admitted past the one in focus")],
      [(g, w, h) => ringedCross(g, w / 2, h / 2, 5, p), tr("preempted: lost its blocks and waits to run again")],
    ];
    this.marks.replaceChildren(...rows.flatMap(([paint, text]) => {
      const canvas = el("canvas", { "aria-hidden": true }), [g, scale] = fit(canvas, 30, 16);
      paint(g, 30, 16, scale);
      return [el("dt", {}, canvas), el("dd", {}, text)];
    }));
  }
}
