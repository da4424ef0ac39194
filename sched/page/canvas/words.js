// What the picture shows, in words. Every sentence is made from the run; none is stored.

// A side at a moment: what the panels, the captions and the table all read.
function glance(world, t) {
  const { i, busy } = world.moment(t), idle = !busy, state = world.seek(Math.max(0, i), idle), stays = world.running(i, idle);
  const blocksOf = (s) => state.held[s];
  let used = 0;
  for (const s of stays) used += blocksOf(s);
  return { world, t, i, idle, state, stays, used, waiting: world.waiting(t), free: Math.max(0, world.capacity - used) };
}

// The less urgent request that holds most, when an urgent one waits in inversion; else null: a stay.
function culpritOf(view) {
  const head = view.waiting[0];
  if (!head || !view.world.isUrgent(head[0]) || !INVERSION[view.world.cause(head[0], view.t)]) return null;
  return largestHolder(view, view.world.requests.level[head[0]]);
}

function largestHolder({ world, stays, state }, level) {
  let best = null;
  for (const s of stays) if (world.requests.level[world.stays.request[s]] > level && (best === null || state.held[s] > state.held[best])) best = s;
  return best;
}

// "8 api and 1 docs wait, 2.8 s at most"
function othersWaiting({ world, waiting, t }, except, level) {
  const groups = new Map();
  let longest = 0;
  for (const [r, since] of waiting) {
    if (r === except || world.requests.level[r] <= level) continue;
    const name = world.head.classes[world.requests.cls[r]];
    groups.set(name, (groups.get(name) ?? 0) + 1);
    longest = Math.max(longest, t - since);
  }
  if (!groups.size) return "";
  const total = [...groups.values()].reduce((a, b) => a + b, 0);
  const who = listed([...groups].map(([name, k]) => `${count(k)} ${name}`), 3);
  return `${who} ${total === 1 ? "request waits" : "requests wait"}${except === null ? "" : " instead"}, ${span(longest)} at most.`;
}

function waitingCaption(view, r, since, until) {
  const { world, t } = view, name = world.names[r], cause = world.cause(r, t), needs = world.needs(r), holder = largestHolder(view, world.requests.level[r]);
  const parts = [];
  if (cause === 0 && t - since < 0.5) parts.push(`**${name} came ${span(t - since)} ago** and waits for the iteration in progress.`);
  else if (cause === 4) parts.push(`**${name} waits for tokens:** ${usersOfTokens(view, world.requests.level[r])}`);
  else if (cause === 5) parts.push(`**${name} waits for a seat:** ${takenByLower(view, world.requests.level[r])}`);
  else if (cause === 2) parts.push(heldBack(view, r, needs));
  else if (cause === 1) parts.push(itsTurn(view, name, needs));
  else parts.push(`**${name} needs ${count(needs)} blocks, ${count(view.free)} ${view.free === 1 ? "is" : "are"} free.**`);
  if (holder !== null && (INVERSION[cause] || cause < 0)) {
    const held = cause === 4 || cause === 5 ? "" : `${world.names[world.stays.request[holder]]} holds ${count(view.state.held[holder])}; `;
    const past = world.passed(r, t), just = past.filter((s) => t - world.stays.from[s] < 1).slice(-2).map((s) => world.names[world.stays.request[s]]);
    if (!past.length) parts.push(sentence(`${held}nobody was admitted past it.`));
    else if (just.length) parts.push(sentence(`${held}${listed(just)} ${just.length === 1 ? "was" : "were"} just admitted past it, ${count(past.length)} so far.`));
    else parts.push(sentence(`${held}${count(past.length)} ${past.length === 1 ? "was" : "were"} admitted past it.`));
  }
  parts.push(Number.isFinite(until) && until > t ? `It starts in ${span(until - t)}.` : "");
  return parts.join(" ").trim();
}

// Ids keep their case; a sentence that starts with a word gets its capital.
function sentence(text) { return /^(nobody)/.test(text) ? text[0].toUpperCase() + text.slice(1) : text; }

function usersOfTokens({ world, stays, i }, level) {
  const users = stays.map((s) => [s, world.work(s, i)?.[0] ?? 0]).filter(([s, tokens]) => tokens > 1 && world.requests.level[world.stays.request[s]] > level).sort((a, b) => b[1] - a[1]);
  if (!users.length) return `the budget of ${count(world.machine.budget)} is used up.`;
  return `${listed(users.slice(0, 2).map(([s, tokens]) => `${world.names[world.stays.request[s]]} takes ${count(tokens)}`))} of the ${count(world.machine.budget)} of this iteration.`;
}

// It would wait even if every less urgent request vanished.
function itsTurn({ world, stays, free }, name, needs) {
  const why = world.isFlat ? "" : " It would wait even without any less urgent request.";
  if (stays.length >= world.machine.seats) return `**${name} waits for a seat:** ${world.machine.seats === 1 ? "the only one is taken" : `all ${count(world.machine.seats)} are taken`}.${why}`;
  if (needs > free) return `**${name} needs ${count(needs)} blocks, ${count(free)} ${free === 1 ? "is" : "are"} free.**${why}`;
  return `**${name} waits for its turn.**${why}`;
}

function takenByLower({ world, stays }, level) {
  const lower = stays.filter((s) => world.requests.level[world.stays.request[s]] > level).length, { seats } = world.machine;
  if (seats === 1) return "the only one is taken by a less urgent request.";
  return `${count(lower)} of ${count(seats)} ${lower === 1 ? "is taken by a less urgent request" : "are taken by less urgent requests"}.`;
}

// It would fit, yet the policy keeps it out: something is set aside, or somebody before it in the queue does not fit.
function heldBack(view, r, needs) {
  const { world } = view, name = world.names[r], fits = `**${name} would fit (${count(needs)} blocks, ${count(view.free)} free)`;
  const before = view.waiting.filter(([one, since]) => one !== r && since <= world.requests.arrival[r] && world.needs(one) > view.free);
  const worst = before.sort((a, b) => world.needs(b[0]) - world.needs(a[0]))[0];
  if (worst) return `${fits}, but waits its turn:** ${world.names[worst[0]]} stands before it and needs ${count(world.needs(worst[0]))}.`;
  return `${fits},** but what is free is kept from it.`;
}

function runningCaption(view, r, stay) {
  const { world, t } = view, name = world.names[r], late = world.stays.from[world.firstStay[r]] - world.requests.arrival[r];
  const { victim, beneficiary, at } = world.preempted;
  let gave = 0;
  for (let k = 0; k < at.length; k++) if (beneficiary[k] === r && victim[k] !== r && at[k] <= t) gave++;
  const where = world.kept && world.isUrgent(r) && late < 0.1 ? ", in the buffer" : "";
  const price = gave ? `: ${plural(gave, world.kept?.lend ? "borrower" : "request")} gave ${gave === 1 ? "its" : "their"} blocks back and will run again.` : ".";
  const others = othersWaiting(view, r, world.requests.level[r]);
  return `**${name} started ${late > 0 ? `${span(late)} after it arrived` : "as soon as it arrived"}**${where}${price} ${others}`.trim();
}

const ENDS = ["finished", "was refused", "timed out", "was turned away", "was cut off", "went to another engine"];      // by outcome

// The sentence under a panel, about the request in focus.
function caption(view, focus) {
  const { world, t } = view;
  if (focus === null) return quietCaption(view);
  const wait = view.waiting.find((w) => w[0] === focus);
  if (wait) return waitingCaption(view, ...wait);
  const stay = view.stays.find((s) => world.stays.request[s] === focus);
  if (stay !== undefined) return runningCaption(view, focus, stay);
  const ended = world.requests.ended[focus], name = world.names[focus];
  if (ended <= t) return `**${name} ${ENDS[world.requests.outcome[focus]]} ${span(t - ended)} ago,** ${span(ended - world.requests.arrival[focus])} after it came. ${othersWaiting(view, focus, world.requests.level[focus])}`.trim();
  return quietCaption(view);
}

function quietCaption(view) {
  const { world, t } = view, next = world.episodes.find(([from]) => from > t);
  const others = othersWaiting(view, null, 0);
  const ahead = next ? ` Next inversion at ${Number(next[0].toFixed(2))}${NARROW_NO_BREAK}s.` : world.episodes.length ? " No inversion lies ahead." : " This run has no inversion.";
  if (view.idle && !view.waiting.length) return `**The engine is idle.**${ahead}`;
  return `**${world.isFlat ? "Nobody" : "No urgent request"} waits.** ${others}${world.isFlat ? "" : ahead}`.trim();
}

// "2 urgent waiting, 5.7 s", and whether that is inversion.
function urgentStatus(view) {
  const urgent = view.waiting.filter(([r]) => view.world.isUrgent(r));
  const word = view.world.isFlat ? "waiting" : "urgent waiting";
  if (!urgent.length) return { text: view.world.isFlat ? "nobody waiting" : "no urgent waiting", kind: "good" };
  const longest = Math.max(...urgent.map(([, since]) => view.t - since)), inverted = urgent.some(([r]) => INVERSION[view.world.cause(r, view.t)]);
  return { text: `${count(urgent.length)} ${word}, ${span(longest)}`, kind: inverted ? "bad" : "plain" };
}

// What the buffer holds now, by the policy's own count.
function bufferText(view) {
  const now = view.world.buffer(view.state);
  return now && { ...now, text: `buffer: ${count(now.urgent)} urgent, ${count(now.lent)} ${view.world.kept.lend ? "lent" : "others"}, ${count(now.idle)} idle` };
}

// One line about a request, for the hover label and the table.
function requestLine(view, r) {
  if (r === null) return "has no request of this name";
  const { world, t } = view, stay = view.stays.find((s) => world.stays.request[s] === r), wait = view.waiting.find((w) => w[0] === r);
  if (wait) return `waits ${span(t - wait[1])}, needs ${count(world.needs(r))} blocks`;
  if (stay === undefined) return world.requests.ended[r] <= t ? ENDS[world.requests.outcome[r]] : "not here yet";
  const done = world.computed(stay, view.i), known = world.stays.known[stay], blocks = count(view.state.held[stay]);
  if (done < known) return `${blocks} blocks, prefill ${count(done)} of ${count(known)} tokens`;
  return `${blocks} blocks, token ${count(Math.max(1, done - world.requests.prompt[r] + 1))} of ${count(world.requests.output[r])}`;
}
