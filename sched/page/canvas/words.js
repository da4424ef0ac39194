// What the picture shows, in words. Every sentence is a template of its own, filled from the run.

const blocksOf = (n) => trCount(n, "{n} block", "{n} blocks");

// A side at a moment: what the panels, the captions and the table all read. Who waits is listed when first asked for.
class View {
  constructor(world, t) {
    const { i, busy } = world.moment(t), idle = !busy;
    this.state = world.seek(i, idle);
    Object.assign(this, { world, t, i, idle, stays: world.running(i, idle) });
    this.used = idle ? 0 : this.state.urgent + this.state.others;
    this.free = Math.max(0, world.capacity - this.used);
  }

  get waiting() { return (this._waiting ??= this.world.waiting(this.t)); }
}

const glance = (world, t) => new View(world, t);

// The less urgent request that holds most, when an urgent one waits in inversion; else null: a stay.
function culpritOf(view) {
  const { world, t } = view, wait = world.firstAt(t), r = wait === null ? -1 : world.asked.request[wait];
  if (r < 0 || !world.isUrgent(r) || !INVERSION[world.cause(r, t)]) return null;
  return largestHolder(view, world.requests.level[r]);
}

function largestHolder({ world, stays, state }, level) {
  let best = null;
  const { request } = world.stays;
  for (const s of stays) {
    if (world.requests.level[request[s]] <= level) continue;
    if (best === null || state.held[s] > state.held[best] || (state.held[s] === state.held[best] && request[s] < request[best])) best = s;
  }
  return best;
}

// "8 api and 1 docs requests wait, 2.8 s at most"
function othersWaiting({ world, waiting, t }, except, level) {
  const groups = new Map();
  let longest = 0, total = 0;
  for (const [r, since] of waiting) {
    if (r === except || world.requests.level[r] <= level) continue;
    const name = world.className(world.requests.cls[r]);
    groups.set(name, (groups.get(name) ?? 0) + 1);
    longest = Math.max(longest, t - since);
    total++;
  }
  if (!groups.size) return "";
  const values = { who: listed([...groups].map(([name, n]) => tr("{n} {name}", { n, name })), 3), longest: span(longest) };
  if (except === null) return trCount(total, "{who} request waits, {longest} at most.", "{who} requests wait, {longest} at most.", values);
  return trCount(total, "{who} request waits instead, {longest} at most.", "{who} requests wait instead, {longest} at most.", values);
}

function waitingCaption(view, r, since, until, starts) {
  const { world, t } = view, cause = world.cause(r, t), short = INVERSION[cause] || cause < 0;
  const parts = [whyItWaits(view, r, since, cause)];
  if (short) parts.push(whoIsPast(view, r, cause));
  if (starts && until > t) {
    const fits = cause === 4 || !short ? null : world.fitsIn(r, t), time = span(until - t);
    parts.push(fits === null ? tr("It starts in {time}.", { time }) : tr("Fits in about {fits}; it starts in {time}.", { fits: span(fits), time }));
  }
  return joined(parts);
}

// The first sentence: what the request lacks.
function whyItWaits(view, r, since, cause) {
  const { world, t } = view, name = world.name(r), level = world.requests.level[r];
  if (cause === 0 && t - since < 0.5) return tr("**{name} came {ago} ago** and waits for the iteration in progress.", { name, ago: span(t - since) });
  if (cause === 4) return waitsForTokens(view, name, level);
  if (cause === 5) return waitsForSeat(view, name, level);
  if (cause === 2) return heldBack(view, r);
  if (cause === 1) return joined([itsTurn(view, r), world.isFlat ? "" : tr("It would wait even without any less urgent request.")]);
  return lacksBlocks(view, r);
}

function lacksBlocks(view, r) {
  const { world, free } = view, name = world.name(r), needs = blocksOf(world.needs(r, view.t)), kept = Math.min(free, world.closedTo(view.state, r));
  if (kept > 0) return trCount(free, "**{name} needs {needs}, {n} is free, {kept} of it kept for others.**", "**{name} needs {needs}, {n} are free, {kept} of them kept for others.**", { name, needs, kept });
  return trCount(free, "**{name} needs {needs}, {n} is free.**", "**{name} needs {needs}, {n} are free.**", { name, needs });
}

// The second sentence: who holds it, and who went past.
function whoIsPast(view, r, cause) {
  const { world, t } = view, stay = cause === 4 || cause === 5 ? null : largestHolder(view, world.requests.level[r]);
  const past = world.passed(r, t), many = past.length, just = past.filter((s) => t - world.stays.from[s] < 1).slice(-2);
  const who = listed((just.length ? just : past.slice(-1)).map((s) => world.name(world.stays.request[s])));
  if (stay === null) {
    if (!many) return tr("Nobody was admitted past it.");
    if (many === 1) return tr("{who} was admitted past it.", { who });
    return just.length > 1 ? tr("{who} were just admitted past it, {many} so far.", { who, many }) : tr("{who} was admitted past it, {many} so far.", { who, many });
  }
  const holder = world.name(world.stays.request[stay]), held = count(view.state.held[stay]);
  if (!many) return tr("{holder} holds {held}; nobody was admitted past it.", { holder, held });
  if (many === 1) return tr("{holder} holds {held}; {who} was admitted past it.", { holder, held, who });
  if (just.length > 1) return tr("{holder} holds {held}; {who} were just admitted past it, {many} so far.", { holder, held, who, many });
  return tr("{holder} holds {held}; {who} was admitted past it, {many} so far.", { holder, held, who, many });
}

function waitsForTokens({ world, stays, i }, name, level) {
  const users = stays.map((s) => [s, world.work(s, i)?.[0] ?? 0]).filter(([s, tokens]) => tokens > 1 && world.requests.level[world.stays.request[s]] > level).sort((a, b) => b[1] - a[1]);
  const [one, two] = users.map(([s]) => world.name(world.stays.request[s])), [n, m] = users.map(([, tokens]) => tokens), { budget } = world.machine;
  if (!users.length) return tr("**{name} waits for tokens:** the budget of {budget} is used up.", { name, budget });
  if (users.length === 1) return tr("**{name} waits for tokens:** {one} takes {n} of the {budget} of this iteration.", { name, one, n, budget });
  return tr("**{name} waits for tokens:** {one} takes {n} and {two} {m} of the {budget} of this iteration.", { name, one, n, two, m, budget });
}

function waitsForSeat({ world, stays }, name, level) {
  const lower = stays.filter((s) => world.requests.level[world.stays.request[s]] > level).length, { seats } = world.machine;
  if (seats === 1) return tr("**{name} waits for a seat:** the only one is taken by a less urgent request.", { name });
  return trCount(lower, "**{name} waits for a seat:** {n} of {seats} is taken by a less urgent request.", "**{name} waits for a seat:** {n} of {seats} are taken by less urgent requests.", { name, seats });
}

// It would wait even if every less urgent request vanished.
function itsTurn(view, r) {
  const { world, stays } = view, name = world.name(r), { seats } = world.machine;
  if (stays.length >= seats) return seats === 1 ? tr("**{name} waits for a seat:** the only one is taken.", { name }) : tr("**{name} waits for a seat:** all {seats} are taken.", { name, seats });
  if (world.needs(r, view.t) > view.free) return lacksBlocks(view, r);
  return tr("**{name} waits for its turn.**", { name });
}

// It would fit, yet the policy keeps it out: something is set aside, or somebody before it in the queue does not fit.
function heldBack(view, r) {
  const { world, t, free } = view, name = world.name(r), needed = world.needs(r, t), needs = blocksOf(needed);
  if (needed > free - world.closedTo(view.state, r) && needed <= free) return lacksBlocks(view, r);
  let worst = null;
  for (const [one, since] of view.waiting) {
    const more = one !== r && since <= world.requests.arrival[r] ? world.needs(one, t) : 0;
    if (more > free && (worst === null || more > worst[1])) worst = [one, more];
  }
  if (worst) return tr("**{name} would fit ({needs}, {free} free), but waits its turn:** {other} stands before it and needs {more}.", { name, needs, free, other: world.name(worst[0]), more: worst[1] });
  return tr("**{name} would fit ({needs}, {free} free),** but the policy holds it back.", { name, needs, free });
}

function runningCaption(view, r) {
  const { world, t } = view, name = world.name(r), late = world.stays.from[world.firstStay[r]] - world.requests.arrival[r];
  const { victim, beneficiary, at } = world.preempted, buffered = world.kept && world.isUrgent(r) && late < 0.1, after = span(late);
  let gave = 0;
  for (let k = 0; k < at.length && at[k] <= t; k++) if (beneficiary[k] === r && victim[k] !== r) gave++;
  const started = late > 0
    ? buffered ? tr("**{name} started {after} after it arrived,** in the buffer.", { name, after }) : tr("**{name} started {after} after it arrived.**", { name, after })
    : buffered ? tr("**{name} started as soon as it arrived,** in the buffer.", { name }) : tr("**{name} started as soon as it arrived.**", { name });
  const price = !gave ? "" : world.kept?.lend
    ? trCount(gave, "{n} borrower gave its blocks back for it and will run again.", "{n} borrowers gave their blocks back for it and will run again.")
    : trCount(gave, "{n} request gave its blocks back for it and will run again.", "{n} requests gave their blocks back for it and will run again.");
  return joined([started, price, urgentWaiting(view) || othersWaiting(view, r, world.requests.level[r])]);
}

// The urgent requests that wait now: what the header counts, in every language alike.
function urgentOf({ world, waiting, t }) {
  let many = 0, oldest = Infinity, inverted = false;
  for (const [r, since] of waiting) {
    if (!world.isUrgent(r)) break;                             // the most urgent stand first
    many++;
    oldest = Math.min(oldest, since);
    inverted ||= INVERSION[world.cause(r, t)] ?? false;
  }
  return { many, inverted, longest: many ? span(t - oldest) : "" };
}

// Beside a request that does not wait itself: how many urgent ones do, how long, and what the first of them lacks.
function urgentWaiting(view) {
  const { world, t } = view, { many, longest } = urgentOf(view);
  if (!many) return "";
  const [r, since] = view.waiting[0], waits = world.isFlat
    ? trCount(many, "{n} request waits, {longest}.", "{n} requests wait, {longest} at most.", { longest })
    : trCount(many, "{n} urgent request waits, {longest}.", "{n} urgent requests wait, {longest} at most.", { longest });
  return joined([waits, whyItWaits(view, r, since, world.cause(r, t))]);
}

// By outcome: what became of it, as a sentence and as a word in a table.
const ENDED = [
  (values) => tr("**{name} finished {ago} ago,** {after} after it came.", values), (values) => tr("**{name} was refused {ago} ago,** {after} after it came.", values),
  (values) => tr("**{name} timed out {ago} ago,** {after} after it came.", values), (values) => tr("**{name} was turned away {ago} ago,** {after} after it came.", values),
  (values) => tr("**{name} was cut off {ago} ago,** {after} after it came.", values), (values) => tr("**{name} went to another engine {ago} ago,** when it came.", values),
];
const ENDS = [() => tr("finished"), () => tr("was refused"), () => tr("timed out"), () => tr("was turned away"), () => tr("was cut off"), () => tr("went to another engine")];

// The sentence under a panel, about the request in focus.
function caption(view, focus) {
  const { world, t } = view;
  if (focus === null) return quietCaption(view);
  const wait = view.waiting.find((w) => w[0] === focus);
  if (wait) return waitingCaption(view, ...wait);
  if (world.stayOf(focus, view) !== null) return runningCaption(view, focus);
  const ended = world.requests.ended[focus], arrival = world.requests.arrival[focus], name = world.name(focus);
  if (arrival > t) return joined([tr("**{name} comes in {time}.**", { name, time: span(arrival - t) }), quietCaption(view)]);
  if (!(ended <= t)) return quietCaption(view);
  return joined([ENDED[world.requests.outcome[focus]]({ name, ago: span(t - ended), after: span(ended - arrival) }), quietCaption(view)]);
}

// How things stand where no request in focus waits or runs.
function quietCaption(view) {
  const { world, t } = view, next = world.nextEpisode(t), urgent = urgentWaiting(view);
  if (urgent) return urgent;
  const ahead = next !== null ? tr("Next inversion of an urgent request at {time}.", { time: moment(next) }) : world.episodes.length ? tr("No inversion of urgent requests lies ahead.") : tr("This run has no inversion of urgent requests.");
  const rest = view.idle && !view.waiting.length ? tr("**The engine is idle.**") : world.isFlat ? tr("**Nobody waits.**") : tr("**No urgent request waits.**");
  return joined([rest, othersWaiting(view, null, 0), world.isFlat ? "" : ahead]);
}

// What the scheduler decided last: who got in, who was thrown out and for whom, who had ended.
function decided(view) {
  const { world, t } = view, last = world.lastDecision(view.i, view.idle);
  if (last === null) return "";
  const names = (stays) => listed(stays.map((s) => world.name(world.stays.request[s])), 3), ago = t - last.at, parts = [];
  const out = last.left.filter((s) => world.wasPreempted(s)), ends = last.left.filter((s) => !world.wasPreempted(s)), whom = out.length ? world.beneficiaryOf(out[0]) : null;
  if (out.length) parts.push(whom === null ? tr("Preempted {who}.", { who: names(out) }) : tr("Preempted {who} for {whom}.", { who: names(out), whom: world.name(whom) }));
  if (last.entered.length) parts.push(tr("Admitted {who}.", { who: names(last.entered) }));
  if (ends.length) parts.push(tr("{who} done.", { who: names(ends) }));
  if (ago < 0.0095 || last.i === view.i) return tr("Now: {what}", { what: joined(parts) });
  return tr("{ago} ago: {what}", { ago: span(ago), what: joined(parts) });
}

// "2 urgent waiting, 5.7 s", and whether that is inversion.
function urgentStatus(view) {
  const { world } = view, { many, inverted, longest } = urgentOf(view);
  if (!many) return { text: world.isFlat ? tr("nobody waiting") : tr("no urgent waiting"), kind: "good" };
  const values = { n: many, longest };
  return { text: world.isFlat ? tr("{n} waiting, {longest}", values) : tr("{n} urgent waiting, {longest}", values), kind: inverted ? "bad" : "plain" };
}

// What the buffer holds now, by the policy's own count: in words, and in fewer.
function bufferText(view) {
  const now = view.world.buffer(view.state), lends = view.world.kept?.lend;
  if (!now) return null;
  return { ...now, text: lends ? tr("buffer: {urgent} urgent, {lent} lent, {idle} idle", now) : tr("buffer: {urgent} urgent, {lent} others, {idle} idle", now),
    brief: lends ? tr("{lent} lent, {idle} idle", now) : tr("{lent} others, {idle} idle", now) };
}

// One line about a request, for the hover label and the table.
function requestLine(view, r) {
  if (r === null) return tr("has no request of this name");
  const { world, t } = view, wait = view.waiting.find((w) => w[0] === r);
  if (wait) return tr("waits {time}, needs {needs}", { time: span(t - wait[1]), needs: blocksOf(world.needs(r, t)) });
  const stay = world.stayOf(r, view);
  if (stay === null) return world.requests.ended[r] <= t ? ENDS[world.requests.outcome[r]]() : tr("not here yet");
  const done = world.computed(stay, view.i), known = world.stays.known[stay], blocks = blocksOf(view.state.held[stay]);
  if (done < known) return tr("{blocks}, prefill {done} of {known} tokens", { blocks, done, known });
  return tr("{blocks}, token {done} of {all}", { blocks, done: Math.max(1, done - world.requests.prompt[r] + 1), all: world.requests.output[r] });
}
