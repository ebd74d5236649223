// A person's life: their events, and those of everybody who was merged into them, as columns in the order of the log.
//   const life = await loadLife('ana', ask)      ask: as in panel.js
//   life.n, position[i], version[i], kind[i], names[i], device[i], recorded[i], occurred[i] (ms), outcome[i], decidedBy[i], row[i], shape[i]
//   life.count(at)           how many steps had been recorded at a position; null is now. Step k is the event k - 1; step 0 is before all
//   life.says(i, at)         the event as a sentence without values, as it was known then: "level set on tablet, 325 days late"
//   life.state(i, at)        effective, waits, queued, refused, void, erased
//   life.links(i)            [save, launch, flush] of a saved item, items of a flush; as numbers of events
// A step is an event: neither a filter nor a clock changes which steps there are.
import {late, span} from './time.js';

const PAGE = 100_000, PAGES = 5;
const content = {customEvent: 'event', customAttributes: 'attribute', userAttribute: 'attribute', userAttributes: 'attribute', purchase: 'purchase'};
const verbs = {Saved: 'saved', Logged: 'logged', Changed: 'set', Queued: 'queued by the SDK'};
const others = {
  userCreated: ['identity', 'became known'], userIdentified: ['identity', 'got an ID'], userChanged: ['identity', 'signed in'],
  userLoggedOut: ['identity', 'logged out'], usersMerged: ['identity', 'another person was merged into this one'], userErased: ['identity', 'erased'],
  aliasAdded: ['identity', 'got an alias'], aliasRenamed: ['identity', 'alias renamed'], externalIDRenamed: ['identity', 'ID renamed'],
  externalIDRemoved: ['identity', 'ID released'], appRemoved: ['identity', 'app removed'], appLaunched: ['launch', 'app started'],
  pendingFlushed: ['flush', 'what waited was flushed'], pendingDiscarded: ['flush', 'what waited was discarded'], dataSent: ['flush', 'what was queued was sent'],
  sessionStarted: ['session', 'session began'], sessionEnded: ['session', 'session ended'], appLeft: ['session', 'app left'], deviceChanged: ['rules', 'settings of the device changed'],
  eventVoided: ['rules', 'an event was made void'], eventUnvoided: ['rules', 'an event counts again'], rulesChanged: ['rules', 'rules changed'],
  objectsLeftOut: ['rules', 'parts of a request were not stored'], messageSent: ['message', 'sent'], messageNotSent: ['unsent', 'not sent'],
};
export const families = {event: 'Events', attribute: 'Attributes', purchase: 'Purchases', launch: 'Launches and flushes', message: 'Messages', identity: 'Who is who', late: 'Came late', waits: 'Saved on a device'};

/** [shape, words, how] of a kind of event. */
function meaning(kind) {
  if (others[kind]) return others[kind];
  const [, what, how] = /^(.*?)(Saved|Logged|Changed|Queued)$/.exec(kind) ?? [];
  if (content[what]) return [content[what], verbs[how], how];
  const words = kind.replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`).replace('in app', 'in-app');
  return [/^(push|inApp)/.test(kind) ? 'push' : /^message/.test(kind) ? 'unsent' : 'rules', words];
}

export async function loadLife(user, ask) {
  const life = new Life();
  for (let page = 0; page < PAGES; page++) {
    const answer = await ask.get('/v1/history', {user, merged: true, parts: 'times', limit: PAGE, after: life.n ? life.position[life.n - 1] : undefined});
    life.add(answer);
    if (!answer.more) break;
    life.isWhole = page + 1 < PAGES;
  }
  life.finish();
  return life;
}

class Life {
  n = 0;
  isWhole = true;
  position = []; version = []; user = []; kind = []; names = []; device = []; recorded = []; occurred = []; outcome = []; decidedBy = []; shape = [];

  add({user, version, times: t}) {
    Object.assign(this, {person: user, latest: version});
    const meanings = t.kinds.map(meaning), names = t.names.map((name) => [name]), none = [];
    for (let i = 0; i < t.position.length; i++) {
      const name = t.name[i];
      this.names.push(name === null ? none : typeof name === 'number' ? names[name] : name.map((x) => t.names[x]));
      this.kind.push(t.kinds[t.kind[i]]);
      this.shape.push(meanings[t.kind[i]][0]);
      this.user.push(t.users[t.user[i]]);
      this.device.push(t.device[i] === null ? null : t.devices[t.device[i]]);
      this.outcome.push(t.outcome[i] === null ? null : t.outcomes[t.outcome[i]]);
    }
    const more = {position: t.position, version: t.version, recorded: t.recorded_ms, occurred: t.occurred_ms, decidedBy: t.decided_by};
    for (const [column, values] of Object.entries(more)) this[column] = this.n ? this[column].concat(values) : values;
    this.n += t.position.length;
  }
  finish() {
    const {n} = this;
    this.devices = [...new Set(this.device)].filter((d) => d !== null);
    this.merged = new Set(this.user.map((u) => u.user_number)).size - 1;
    const places = new Map(this.devices.map((d) => [d, `device ${d}`])), rows = new Map();
    const where = (i) => /^(message|unsent|push)$/.test(this.shape[i]) ? 'messages' : this.device[i] !== null ? places.get(this.device[i])
      : /^(identity|rules)$/.test(this.shape[i]) ? 'person' : 'app';
    const place = Array.from({length: n}, (_, i) => where(i));
    const used = new Set(place);
    for (const [key, label] of [['person', 'Person'], ['app', 'App, servers'], ...this.devices.map((d) => [places.get(d), d]), ['messages', 'Messages']]) if (used.has(key)) rows.set(key, {key, label});
    this.rows = [...rows.values()];
    const numbers = new Map(this.rows.map((row, i) => [row.key, i]));
    this.row = Uint16Array.from(place, (key) => numbers.get(key));
    this.own = new Int32Array(n + 1);
    this.launches = [];
    // The launch of an event: the last start of the app on its device.
    this.launch = new Int32Array(n).fill(-1);
    const last = new Map();
    for (let i = 0; i < n; i++) {
      if (this.kind[i] === 'appLaunched') { last.set(this.device[i], this.launches.length); this.launches.push(i); }
      if (this.device[i] !== null) this.launch[i] = last.get(this.device[i]) ?? -1;
      this.own[i + 1] = this.user[i].user_number === this.person.number ? i + 1 : this.own[i];
    }
  }
  /** Position of step k; null for the last one if that is now. */
  at(k) { return k > 0 ? this.position[k - 1] : 0; }
  count(at) {
    if (at === null) return this.n;
    let low = 0, high = this.n;
    while (low < high) { const middle = (low + high) >> 1; if (this.position[middle] <= at) low = middle + 1; else high = middle; }
    return low;
  }
  /** The event at this position, or -1. */
  find(position) { const k = this.count(position); return k && this.position[k - 1] === position ? k - 1 : -1; }
  /** What became of an event by a moment; what is decided later is not known yet. */
  state(i, at = null) {
    const outcome = this.outcome[i];
    if (outcome === 'erased') return 'erased';
    const isLater = at !== null && this.decidedBy[i] > at;
    if (outcome === null || isLater && outcome === 'void') return 'effective';
    if (isLater || outcome === 'waiting' || outcome === 'queued') return /Queued$/.test(this.kind[i]) || outcome === 'queued' && !isLater ? 'queued' : /Saved$/.test(this.kind[i]) ? 'waits' : 'effective';
    return {flushed: 'effective', sent: 'effective', rejected: 'refused', discarded: 'refused', void: 'void'}[outcome] ?? 'effective';
  }
  delay(i) { return (this.recorded[i] - this.occurred[i]) / 1000; }
  isLate(i) { return this.delay(i) > 60; }
  launchNumber(i) { return this.launch[i] + 1; }
  /** The launch that flushed, as a number from 1; 0 if there was none. */
  decidedWith(i) { const flush = this.decidedBy[i] === null ? -1 : this.find(this.decidedBy[i]); return flush < 0 ? 0 : this.launchNumber(flush); }
  links(i) {
    if (this.kind[i] === 'pendingFlushed' || this.kind[i] === 'dataSent') {
      const items = [];
      for (let j = i - 1; j >= 0 && items.length < 40; j--) if (this.decidedBy[j] === this.position[i]) items.push(j);
      return items.map((item) => [item, i]);
    }
    const decided = this.decidedBy[i] === null ? -1 : this.find(this.decidedBy[i]);
    if (decided < 0) return [];
    const launch = this.kind[decided] === 'pendingFlushed' && this.launch[decided] >= 0 ? this.launches[this.launch[decided]] : -1;
    return launch > i ? [[i, launch], [launch, decided]] : [[i, decided]];
  }
  what(i) {
    const [shape, words, how] = meaning(this.kind[i]), names = this.names[i];
    const list = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    if (how) return `${shape === 'event' ? `“${list}”` : list || shape} ${how === 'Logged' && shape === 'purchase' ? 'bought' : words}`;
    return shape === 'launch' ? `launch ${this.launchNumber(i)}` : list ? `${words}: ${list}` : words;
  }
  says(i, at = null) {
    const state = this.state(i, at), delay = this.delay(i), with_ = this.decidedWith(i);
    const about = [this.what(i) + (this.device[i] === null ? '' : ` on ${this.device[i]}`)];
    if (Math.abs(delay) >= 60) about.push(late(this.occurred[i], this.recorded[i]));
    if (state === 'waits') about.push('it waits for a launch');
    else if (state === 'queued') about.push('not sent yet');
    else if (state === 'void') about.push('void');
    else if (state === 'erased') about.push('erased');
    else if (state === 'refused') about.push(this.outcome[i] === 'discarded' ? 'discarded' : with_ ? `refused at launch ${with_}` : 'refused');
    else if (/Saved$/.test(this.kind[i]) && with_) {
      const waited = (this.recorded[this.find(this.decidedBy[i])] - this.recorded[i]) / 1000;
      about.push(`in effect with launch ${with_}${waited >= 60 ? `, ${span(waited)} later` : ''}`);
    }
    if (this.user[i].user_number !== this.person.number) about.push('of a person who was merged later');
    return about.join(', ');
  }
  isOf(i, family) {
    const shape = this.shape[i];
    return !family || (family === 'late' ? this.isLate(i) : family === 'waits' ? /Saved$/.test(this.kind[i]) : family === 'launch' ? /launch|flush|session/.test(shape)
      : family === 'message' ? /message|unsent|push/.test(shape) : shape === family);
  }
}
export const iso = (ms) => new Date(ms).toISOString();
