// The engine at one moment, without anything that plays: its memory, who is in the batch, who waits. For the lessons.

class Still {
  constructor(parent) {
    this.panel = new Panel(0);
    this.title = el("p", { class: "when" });
    this.batch = el("div", { class: "row" });
    this.waiting = el("div", { class: "row" });
    this.root = el("div", { class: "stage still one" }, this.title, this.panel.root, this.batch, this.waiting);
    const style = el("style");
    style.textContent = STYLES.stage + STYLES.still;
    (parent.querySelector?.(".still-root") ?? parent).replaceChildren(style, this.root);
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.root);
  }

  async receive({ data }) {
    if (data !== this.raw) {
      this.raw = data;
      const { head, runs } = await unpackStage(data);
      if (this.raw !== data) return;
      this.head = head;
      this.world = new World(runs[0]);
      this.panel.load(this.world, "", "");
    }
    setLanguage(this.head.lang);
    this.panel.relabel();
    this.width = 0;
    this.draw();
    window.__still = this;
    window.__stilled = (window.__stilled ?? 0) + 1;
  }

  draw() {
    const wide = this.root.clientWidth;
    if (!this.world || !wide || wide === this.width) return;
    this.width = wide;
    const { panel, world, root, head } = this, p = lookOf(root), view = glance(world, head.t);
    for (const [name, colour] of Object.entries(p)) if (typeof colour === "string" && colour.startsWith("#")) root.style.setProperty("--" + name, colour);
    panel.p = p;
    panel.view = view;
    panel.culprit = null;
    panel.memory.resize(wide, 190, world, true);
    panel.memory.paint(view.state, view.i, p, { culprit: null, focus: null, now: 0, fade: false });
    panel.words(view);
    this.words(view);
  }

  words(view) {
    const { head, world } = this, { words } = head, fill = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
    const name = (r) => world.name(r), inside = [...view.stays].sort((a, b) => view.state.held[b] - view.state.held[a]);
    const chips = (all, most) => [...all.slice(0, most), ...(all.length > most ? [el("span", { class: "sub" }, fill(words.more, { n: count(all.length - most) }))] : [])];
    const chip = (r, text, bad) => el("span", { class: `chip${bad ? " bad" : ""}` }, classMark(world.role(r)), el("b", {}, name(r)), el("span", {}, text));
    say(this.title, words.title);
    const batch = inside.map((s) => chip(world.stays.request[s], fill(words.holds, { n: count(view.state.held[s]) }), false));
    const place = new Map(head.queue.map((one, k) => [one, k])), asked = [...view.waiting].sort(([a], [b]) => (place.get(world.names[a]) ?? 0) - (place.get(world.names[b]) ?? 0));
    const queue = asked.map(([r]) => chip(r, fill(words.needs, { n: count(world.needs(r, head.t)) }), INVERSION[world.cause(r, head.t)]));
    const lead = (text, more) => el("span", { class: "lead" }, text, more ? el("span", { class: "sub" }, ` ${more}`) : null);
    this.batch.replaceChildren(lead(words.batch, `${view.stays.length} ${words.seats}`), ...chips(batch, 8));
    this.waiting.replaceChildren(lead(words.queue), ...(queue.length ? chips(queue, 12) : [el("span", { class: "sub" }, words.empty)]));
    const held = inside.map((s) => `${name(world.stays.request[s])} ${count(view.state.held[s])}`).join(", ");
    this.panel.memoryCanvas.setAttribute("aria-label", fill(words.picture, { held, free: count(view.free) }));
  }
}

const stills = new WeakMap();

function stillPicture(api) {
  let one = stills.get(api.parentElement);
  if (!one) { one = new Still(api.parentElement); stills.set(api.parentElement, one); }
  one.receive(api);
  return () => { one.observer.disconnect(); stills.delete(api.parentElement); };
}
