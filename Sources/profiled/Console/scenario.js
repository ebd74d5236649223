// One person's events from the first pin to the last as a scenario (docs/scenarios.md) that expects the last profile.
// What follows from other steps (a session, a flush) has no step; kinds that scenarios lack are refused by name.
import {Failure, get} from './api.js';
import {contents, kindWords} from './words.js';

const refuse = (error, remedy) => { throw new Failure(0, {error, remedy, code: 'no_scenario'}); };
const settings = /^(online|sdk_enabled|request_policy|permission|server_events|(flush_interval|session_timeout)_s)$/;
const simple = {userChanged: 'change-user', userLoggedOut: 'wipe', appLaunched: 'launch', appLeft: 'leave', appRemoved: 'remove-app', dataSent: 'send'};
const follows = /^(userCreated|session(Started|Ended)|pendingFlushed)$/;

function step(e, user, before) {
  const {device, process, kind} = e, time = e.occurred_at === e.recorded_at ? undefined : e.occurred_at, [, group, how] = contents.exec(kind) ?? [];
  if (follows.test(kind) || (kind === 'pendingDiscarded' && e.actor === 'SDK') || (kind === 'dataSent' && before === e.recorded_at)) return null;
  if (kind === 'userAttributesChanged' && e.user_attributes) refuse(`Event ${e.position} sets several user attributes at once.`, 'Scenarios have no step for that. Choose other pins.');
  if (how) {
    const [name, content] = {customEvent: ['event', {name: e.name, properties: e.properties}], customAttributes: ['attributes', {attributes: e.attributes}],
      purchase: ['purchase', {product: e.product, currency: e.currency, price: e.price, quantity: e.quantity, properties: e.properties}]}[group] ?? ['user-attribute', {attribute: e.attribute, value: e.value ?? null}];
    return how === 'Saved' ? [`save-${name}`, {...content, user, device, process, ...(e.storage?.startsWith('private:') ? {private: true} : {app_group: e.storage}), time}]
      : [`log-${name}`, {...content, user: how === 'Queued' ? undefined : user, device, process, source: e.source === 'app' ? undefined : e.source, time}];
  }
  if (simple[kind]) return [simple[kind], {user: kind === 'userChanged' ? user : undefined, kind: e.launch_kind, device, time}];
  if (kind !== 'deviceChanged') refuse(`Event ${e.position} is of the kind “${kindWords(kind)}”, for which scenarios have no step.`, 'Choose pins that leave it out, or write the file by hand.');
  const set = Object.entries(e.settings ?? {}).filter(([, v]) => v !== null && !(Array.isArray(v) && !v.length)), unknown = set.find(([name]) => !settings.test(name));
  if (unknown) refuse(`Event ${e.position} sets ${unknown[0]} of a device, for which this page has no step.`, 'Choose other pins, or write the file by hand.');
  return ['settings', {device, time, ...Object.fromEntries(set.map(([name, v]) => /_s$/.test(name) ? [name.slice(0, -2), `${v}s`] : [name, v]))}];
}
export async function scenario(pins) {
  const users = [...new Set(pins.map((p) => p.user).filter(Boolean))], [user] = users, positions = pins.map((p) => p.at), first = Math.min(...positions), last = Math.max(...positions), events = [];
  if (users.length !== 1) refuse(users.length ? `The pins are of ${users.length} people.` : 'No pin is of a person.', 'A scenario is about one person: remove the other pins.');
  for (let after = Math.max(0, first - 1); after < last;) {
    const page = await get('/v1/events', {user, after, limit: 1000});
    events.push(...page.events.filter((e) => e.position <= last));
    if (page.scanned <= after) break;
    after = page.scanned;
  }
  if (!events.length) refuse('Between the first pin and the last nothing happened to this person.', 'Pin more.');
  if (events.length > 5000) refuse(`There are ${events.length} events between the pins.`, 'A scenario has at most 10,000 steps: choose pins that are nearer to each other.');
  const then = events[0].version > 1 ? await get('/v1/profile', {user, as_of: events[0].position - 1}) : null, now = await get('/v1/profile', {user, as_of: last}), {id} = now.user;
  if (id.startsWith('braze:')) refuse('This person has no ID of their own.', 'A scenario begins with an empty store, where a braze_id names nobody.');
  const lines = [], add = (name, fields) => lines.push(`  - ${name}: ${JSON.stringify(fields)}`);
  // What was known before the first pin: values, but not how they came.
  const known = Object.entries(then?.custom_attributes ?? {}).map(([name, v]) => [name, v?.constructor === Object && !v.$time ? {$set: v} : v]);
  if (known.length) add('log-attributes', {user: id, attributes: Object.fromEntries(known)});
  for (const [attribute, value] of Object.entries(then?.attributes ?? {})) add('log-user-attribute', {user: id, attribute, value});
  const on = new Set(), included = new Set(events.map((e) => e.position)), begin = Date.parse(events[0].recorded_at);
  let waited = 0, before = null;
  for (const e of events) {
    const missing = [...(e.flushed ?? []), ...(e.sent ?? [])].find((p) => !included.has(p)), made = step(e, id, before);
    if (missing) refuse(`Event ${e.position} made the item of position ${missing} effective, which is before the first pin.`, `Pin event ${missing} too.`);
    if (!made) continue;
    const seconds = Math.floor((Date.parse(e.recorded_at) - begin) / 1000) - waited;
    if (seconds > 0) { add('wait', `${seconds}s`); waited += seconds; }
    if (e.kind === 'appLaunched' && !on.has(e.device)) add('change-user', {user: id, device: e.device});
    if (/^(userChanged|appLaunched)$/.test(e.kind)) on.add(e.device);
    add(...made);
    before = e.recorded_at;
  }
  const less = (all, of = [], name) => all.map((x) => ({[name]: x[name], count: x.count - (of.find((y) => y[name] === x[name])?.count ?? 0)})).filter((x) => x.count > 0);
  add('expect-profile', {user: id, custom_attributes: now.custom_attributes, attributes: now.attributes, custom_events: less(now.custom_events, then?.custom_events, 'name'), purchases: less(now.purchases, then?.purchases, 'product')});
  return [`name: ${JSON.stringify(`Positions ${first} to ${last}`)}`, `start: ${JSON.stringify(events[0].recorded_at)}`, 'steps:', ...lines, ''].join('\n');
}
