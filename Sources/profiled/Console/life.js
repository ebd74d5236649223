// A person's life: their events, and those of all who were merged into them, as columns in the order of the log.
//   life.count(at)   steps at a position; null is now. Step k is the event k - 1: neither a filter nor a clock changes them
//   life.find(position)  or -1      life.says(i, at)  "level set on tablet, 325 days late", without values
//   life.state(i, at)    as it was known then        life.links(i)     pairs of events: save → launch → flush
import {late, span} from './time.js';
import {families, kindWords, shapeOf} from './words.js';

const isContent = /(Saved|Logged|Changed|Queued)$/;
export const emphases = [['', 'All alike'], ...families, ['late', 'Came late']];
export const iso = (ms) => new Date(ms).toISOString();

export async function loadLife(user, ask) {
  const life = new Life();
  for (let more = true; more;) {
    const answer = await ask.get('/v1/history', {user, merged: true, parts: 'times', limit: 100_000, after: life.position.at(-1)}, {plain: true});
    life.add(answer);
    ({more} = answer);
  }
  life.finish();
  return life;
}

class Life {
  n = 0; damaged = 0; position = []; version = []; recorded = []; occurred = []; decidedBy = []; user = []; kind = []; shape = []; names = []; device = []; outcome = [];

  add({user, times: t, damaged = [], damaged_count = damaged.length}) {
    this.person = user;
    this.damaged += damaged_count;
    const shapes = t.kinds.map(shapeOf), names = t.names.map((name) => [name]), none = [];
    const columns = {position: t.position, version: t.version, recorded: t.recorded_ms, occurred: t.occurred_ms, decidedBy: t.decided_by,
      names: t.name.map((x) => x === null ? none : typeof x === 'number' ? names[x] : x.map((y) => t.names[y])), kind: t.kind.map((x) => t.kinds[x]), shape: t.kind.map((x) => shapes[x]),
      user: t.user.map((x) => t.users[x]), device: t.device.map((x) => x === null ? null : t.devices[x]), outcome: t.outcome.map((x) => x === null ? null : t.outcomes[x])};
    for (const name in columns) this[name] = this[name].concat(columns[name]);
    this.n = this.position.length;
  }
  finish() {
    const {n} = this, last = new Map(), fixed = {}, place = new Array(n);
    this.devices = [...new Set(this.device)].filter((d) => d !== null);
    const onDevice = new Map(this.devices.map((d) => [d, `@${d}`]));
    this.merged = new Set(this.user).size - 1;
    this.launches = [];
    this.launch = new Int32Array(n).fill(-1);
    this.own = new Int32Array(n + 1);
    for (let i = 0; i < n; i++) {
      const shape = this.shape[i], device = this.device[i];
      if (shape === 'launch') { last.set(device, this.launches.length); this.launches.push(i); }
      if (device !== null) this.launch[i] = last.get(device) ?? -1;
      // The steps up to the person's own last one: before it, the profile is that of who was merged later.
      this.own[i + 1] = this.isOwn(i) ? i + 1 : this.own[i];
      fixed[shape] ??= /message|unsent|push/.test(shape) ? 'Messages' : /identity|rules/.test(shape) ? 'Person' : 'App, servers';
      place[i] = device === null || fixed[shape] === 'Messages' ? fixed[shape] : onDevice.get(device);
    }
    const used = new Set(place), order = ['Person', 'App, servers', ...onDevice.values(), 'Messages'].filter((key) => used.has(key)), numbers = new Map(order.map((key, i) => [key, i]));
    this.rows = order.map((key) => key.replace(/^@/, ''));
    this.row = Uint16Array.from(place, (key) => numbers.get(key));
  }
  isOwn(i) { return this.user[i].user_number === this.person.number; }
  count(at) {
    if (at === null) return this.n;
    let low = 0, high = this.n;
    while (low < high) { const middle = (low + high) >> 1; if (this.position[middle] <= at) low = middle + 1; else high = middle; }
    return low;
  }
  find(position) { const i = this.count(position ?? 0) - 1; return this.position[i] === position ? i : -1; }
  state(i, at = null) {
    const outcome = this.outcome[i], isLater = at !== null && this.decidedBy[i] > at, kind = this.kind[i];
    if (outcome === 'erased') return 'erased';
    if (outcome === null || isLater && outcome === 'void') return 'effective';
    if (isLater || outcome === 'waiting' || outcome === 'queued') return /Queued$/.test(kind) || !isLater && outcome === 'queued' ? 'queued' : /Saved$/.test(kind) ? 'waits' : 'effective';
    return {rejected: 'refused', discarded: 'refused', void: 'void'}[outcome] ?? 'effective';
  }
  delay(i) { return (this.recorded[i] - this.occurred[i]) / 1000; }
  isLate(i) { return this.delay(i) > 60; }
  launchOf(i) { const flush = this.find(this.decidedBy[i]); return flush < 0 ? 0 : this.launch[flush] + 1; }
  links(i) {
    const pairs = [];
    if (this.shape[i] === 'flush') for (let j = i - 1; j >= 0 && pairs.length < 40; j--) if (this.decidedBy[j] === this.position[i]) pairs.push([j, i]);
    const flush = this.find(this.decidedBy[i]);
    if (flush < 0) return pairs;
    const launch = this.launches[this.launch[flush]] ?? -1;
    return launch > i && this.kind[flush] === 'pendingFlushed' ? [[i, launch], [launch, flush]] : [[i, flush]];
  }
  what(i) {
    const kind = this.kind[i], shape = this.shape[i], names = this.names[i], how = isContent.exec(kind)?.[1];
    const list = names.length > 3 ? `${names.slice(0, 3).join(', ')} and ${names.length - 3} more` : names.join(', ');
    const verb = how === 'Logged' && shape === 'purchase' ? 'bought' : {Saved: 'saved', Logged: 'logged', Changed: 'set', Queued: 'queued by the SDK'}[how];
    if (how && list) return `${shape === 'event' ? `“${list}”` : list} ${verb}`;
    if (shape === 'launch') return `launch ${this.launch[i] + 1}`;
    return kindWords(kind) + (list && `: ${list}`);
  }
  says(i, at = null) {
    const state = this.state(i, at), launch = this.launchOf(i), parts = [this.what(i) + (this.device[i] === null ? '' : ` on ${this.device[i]}`)];
    if (Math.abs(this.delay(i)) >= 60) parts.push(late(this.occurred[i], this.recorded[i]));
    if (state === 'effective' && launch && /Saved$/.test(this.kind[i])) {
      const waited = (this.recorded[this.find(this.decidedBy[i])] - this.recorded[i]) / 1000;
      parts.push(`in effect with launch ${launch}${waited >= 60 ? `, ${span(waited)} later` : ''}`);
    } else if (state !== 'effective') {
      const refused = this.outcome[i] === 'discarded' ? 'discarded' : `refused${launch ? ` at launch ${launch}` : ''}`;
      parts.push({waits: 'it waits for a launch', queued: 'not sent yet', refused}[state] ?? state);
    }
    if (!this.isOwn(i)) parts.push('of a person who was merged later');
    return parts.join(', ');
  }
  isOf(i, family) { return !family || (family === 'late' ? this.isLate(i) : families.find(([key]) => key === family)?.[2].includes(this.kind[i])); }
}
