// The events of one person, from the first pin to the last, as a scenario file (docs/scenarios.md) that expects the last profile.
// What follows from other steps (a session, a flush) has no step of its own; kinds that scenarios lack are refused by name.
import {Failure, get} from './api.js';
import {kindWords} from './words.js';

const follows = new Set(['userCreated', 'sessionStarted', 'sessionEnded', 'pendingFlushed']);
const refuse = (error, remedy) => { throw new Failure(0, {error, remedy, code: 'no_scenario'}); };
const only = (object) => Object.fromEntries(Object.entries(object).filter(([, v]) => v !== undefined));
const settingNames = {online: 'online', sdk_enabled: 'sdk_enabled', request_policy: 'request_policy', permission: 'permission', server_events: 'server_events'};
const spanNames = {flush_interval_s: 'flush_interval', session_timeout_s: 'session_timeout'};

/** The step of one event; null if it follows from another step. */
function step(e, user, before) {
  const {device, process, source, kind} = e;
  const time = e.occurred_at === e.recorded_at ? undefined : e.occurred_at;
  const content = /^customEvent/.test(kind) ? {name: e.name, properties: e.properties} : /^customAttr/.test(kind) ? {attributes: e.attributes}
    : /^userAttr/.test(kind) ? {attribute: e.attribute, value: e.value ?? null} : {product: e.product, currency: e.currency, price: e.price, quantity: e.quantity, properties: e.properties};
  const name = /^customEvent/.test(kind) ? 'event' : /^customAttr/.test(kind) ? 'attributes' : /^userAttr/.test(kind) ? 'user-attribute' : 'purchase';
  if (follows.has(kind) || (kind === 'pendingDiscarded' && e.actor === 'SDK')) return null;
  if (/Saved$/.test(kind)) return [`save-${name}`, {...content, user, device, process, ...(e.storage?.startsWith('private:') ? {private: true} : {app_group: e.storage}), time}];
  if (kind === 'userAttributesChanged' && e.user_attributes) refuse(`Event ${e.position} sets several user attributes at once.`, 'Scenarios have no step for that. Choose other pins.');
  if (/(Logged|Changed|Queued)$/.test(kind) && /^(custom|userAttributes|purchase)/.test(kind)) return [`log-${name}`, {...content, user: /Queued$/.test(kind) ? undefined : user, device, process, source: source === 'app' ? undefined : source, time}];
  switch (kind) {
    case 'userChanged': return ['change-user', {user, device, time}];
    case 'userLoggedOut': return ['wipe', {device, time}];
    case 'appLaunched': return ['launch', {kind: e.launch_kind, device, time}];
    case 'appLeft': return ['leave', {device, time}];
    case 'appRemoved': return ['remove-app', {device, time}];
    case 'dataSent': return before === e.recorded_at ? null : ['send', {device, time}];
    case 'deviceChanged': {
      const all = {device, time};
      for (const [k, v] of Object.entries(e.settings ?? {})) {
        if (settingNames[k]) all[settingNames[k]] = v;
        else if (spanNames[k]) all[spanNames[k]] = `${v}s`;
        else if (!(v === null || (Array.isArray(v) && !v.length))) refuse(`Event ${e.position} sets ${k} of a device, for which this page has no step.`, 'Choose other pins, or write the file by hand.');
      }
      return ['settings', all];
    }
    default: refuse(`Event ${e.position} is of the kind “${kindWords(kind)}”, for which scenarios have no step.`, 'Choose pins that leave it out, or write the file by hand.');
  }
}
export async function scenario(pins) {
  const users = [...new Set(pins.map((p) => p.user).filter(Boolean))];
  if (users.length !== 1) refuse(users.length ? `The pins are of ${users.length} people.` : 'No pin is of a person.', 'A scenario is about one person: remove the other pins.');
  const first = Math.min(...pins.map((p) => p.at)), last = Math.max(...pins.map((p) => p.at)), events = [];
  for (let after = Math.max(0, first - 1); after < last;) {
    const page = await get('/v1/events', {user: users[0], after, limit: 1000});
    events.push(...page.events.filter((e) => e.position <= last));
    if (page.scanned <= after) break;
    after = page.scanned;
  }
  if (!events.length) refuse('Between the first pin and the last nothing happened to this person.', 'Pin more.');
  if (events.length > 5000) refuse(`There are ${events.length} events between the pins.`, 'A scenario has at most 10,000 steps: choose pins that are nearer to each other.');
  const profile = (as_of) => get('/v1/profile', {user: users[0], as_of});
  const [then, now] = [events[0].version > 1 ? await profile(events[0].position - 1) : null, await profile(last)];
  if (now.user.id.startsWith('braze:')) refuse('This person has no ID of their own.', 'A scenario begins with an empty store, where a braze_id names nobody.');
  const {id} = now.user, steps = [];
  const add = (name, fields) => steps.push(`  - ${name}: ${JSON.stringify(typeof fields === 'string' ? fields : only(fields))}`);
  // What was known before the first pin: values, but not how they came.
  if (Object.keys(then?.custom_attributes ?? {}).length) add('log-attributes', {user: id, attributes: Object.fromEntries(Object.entries(then.custom_attributes).map(([k, v]) => [k, v && typeof v === 'object' && !Array.isArray(v) && !v.$time ? {$set: v} : v]))});
  for (const [attribute, v] of Object.entries(then?.attributes ?? {})) add('log-user-attribute', {user: id, attribute, value: v});
  const on = new Set(), positions = new Set(events.map((e) => e.position)), begin = Date.parse(events[0].recorded_at);
  let waited = 0, before = null;
  for (const e of events) {
    const missing = [...(e.flushed ?? []), ...(e.sent ?? [])].find((p) => !positions.has(p));
    if (missing) refuse(`Event ${e.position} made the item of position ${missing} effective, which is before the first pin.`, `Pin event ${missing} too.`);
    const made = step(e, id, before);
    if (!made) continue;
    const seconds = Math.floor((Date.parse(e.recorded_at) - begin) / 1000) - waited;
    if (seconds > 0) { add('wait', `${seconds}s`); waited += seconds; }
    if (e.kind === 'userChanged') on.add(e.device);
    else if (e.kind === 'appLaunched' && !on.has(e.device)) { add('change-user', {user: id, device: e.device}); on.add(e.device); }
    add(...made);
    before = e.recorded_at;
  }
  const less = (list, of, name) => list.map((x) => ({[name]: x[name], count: x.count - (of?.find((y) => y[name] === x[name])?.count ?? 0)})).filter((x) => x.count > 0);
  add('expect-profile', {user: id, custom_attributes: now.custom_attributes, attributes: now.attributes, custom_events: less(now.custom_events, then?.custom_events, 'name'), purchases: less(now.purchases, then?.purchases, 'product')});
  return [`name: ${JSON.stringify(`Positions ${first} to ${last}`)}`, `start: ${JSON.stringify(events[0].recorded_at)}`, 'steps:', ...steps, ''].join('\n');
}
