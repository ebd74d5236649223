// What the pages of messages and devices share: events in a few words, marks, and what became of a message for a person.
import {h, foreign, count} from './dom.js';
import {isAbort} from './api.js';

export const para = (name, ...content) => h('p', {class: name || null}, content);
/** A mark: its shape says the kind, its fill and colour the state, which the words beside it say too. */
export const mark = (shape, state) => h('span', {class: `mark ${shape} ${state}`, 'aria-hidden': 'true'});
export const plain = (word) => String(word ?? '').replaceAll('_', ' ');
/** `after` for the newest events of the chosen moment, in a list with reverse=true. */
export const beyond = (context) => context.at !== null && context.store.position > context.at ? context.at + 1 : undefined;

/** Events by a filter: an answer that looked at a part of a long log goes on. `after` is where the next page begins, or null. */
export async function eventsBy(get, query, tries = 20) {
  const events = [];
  for (; ; tries--) {
    const answer = await get('/v1/events', query), isOver = query.reverse ? answer.scanned <= 1 : answer.scanned >= answer.last;
    events.push(...answer.events);
    if (isOver || events.length >= query.limit || tries === 1) return {events, after: isOver ? null : answer.cursor};
    query = {...query, after: answer.cursor};
  }
}

const items = (list, done) => `${count(list.length, 'item')} ${done}`;
const words = {
  messageSent: (e) => `sent by ${plain(e.channel)}${e.device ? ` to ${e.device}` : ''}`, messageNotSent: (e) => `not sent by ${plain(e.channel)}`,
  pushReceived: (e) => `received${e.screen ? `, shown as ${plain(e.screen)}` : ''}`, inAppMessageShown: (e) => `shown on ${e.device}`,
  inAppMessageWaiting: () => 'triggered, and waits', inAppMessageIgnored: () => 'triggered, and ignored', pushActionChosen: (e) => `button or input: ${e.action ?? ''}`,
  appLaunched: (e) => `the app starts (${e.launch_kind})`, sessionStarted: () => 'a session starts', userChanged: () => 'another person is on the device', deviceChanged: () => 'settings changed',
  pendingFlushed: (e) => items(e.flushed, e.queued ? 'handed to the SDK' : 'flushed') + (e.rejected.length ? `, ${e.rejected.length} refused` : ''),
  dataSent: (e) => items(e.sent, 'sent by the SDK'), pendingDiscarded: (e) => items(e.discarded, 'discarded'),
};
/** What an event is about: its name, product or attributes. */
export const subject = (e) => e.name ?? e.product ?? e.attribute ?? Object.keys(e.attributes ?? e.user_attributes ?? {}).join(', ');
export const isContent = (e) => /^(customEvent|customAttributes|userAttributes?|purchase)(Saved|Logged|Changed|Queued)$/.test(e.kind);
export const spoken = (kind) => kind.replace(/^(push|inAppMessage)(?=.)/, '').replace(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`).trim();
/** An event as a few words, with its reason: "not sent by email: unsubscribed". */
export const told = (e) => (words[e.kind]?.(e) ?? (isContent(e) ? `${/Saved$/.test(e.kind) ? 'saved' : /Queued$/.test(e.kind) ? 'taken by the SDK' : 'logged'}: ${subject(e)}` : spoken(e.kind))) + (e.reason ? `: ${e.reason}` : '');
const failed = /Not(Sent|Received)$|Ignored$|Discarded$/;
export const stateOf = (e) => failed.test(e.kind) ? 'refused' : /Waiting$|Captured$|Queued$|Saved$/.test(e.kind) ? 'waits' : 'effective';
export const isStep = (e) => /^(message|push|inApp)/.test(e.kind);
export const byThen = (list, at) => (list ?? []).filter((e) => at === null || e.position <= at);

/** What became of a message for a person, by the answer of explain: [{state, text}], one for each channel. */
export function fates(answer, at = null) {
  const last = new Map(byThen(answer.links, at).filter(isStep).map((e) => [e.channel, e]));
  if (last.size) return [...last.values()].map((e) => ({state: stateOf(e), text: told(e)}));
  const near = [...new Set(byThen(answer.misses, at).map((m) => m.reason))].slice(-2);
  return [{state: 'refused', text: `not shown: ${answer.reason ?? 'it was not sent by then'}${near.length ? `. What came near: ${near.join('. And: ')}` : ''}`}];
}
export const fateView = (list) => list.map((f) => h('div', {class: 'fate'}, mark('message', f.state), foreign(f.text, {cut: f.text.length > 400})));
/** The fates of a message for a person; null if nothing is known of it for them. */
export async function ask(get, user, message, at) {
  try { return fates(await get('/v1/messages/explain', {user, message}), at); } catch (error) {
    if (isAbort(error) || error.code !== 'no_such_message') throw error;
    return null;
  }
}

const comparators = {1: 'is', 2: 'is not', 3: 'is more than', 4: 'is at least', 5: 'is less than', 6: 'is at most', 10: 'matches', 17: 'does not match', 11: 'exists', 12: 'does not exist'};
/** When an in-app message is triggered, in words. */
export const triggers = (message) => message.trigger_conditions.map((t) => {
  const filters = (t.property_filters ?? []).map((any) => any.map((f) => [f.property_key, comparators[f.comparator], f.property_value === undefined ? '' : JSON.stringify(f.property_value)].join(' ').trim()).join(' or ')).join(' and ');
  const what = t.type === 'open' ? 'a session starts' : t.type === 'push_click' ? `a push is opened (${t.campaign_id ?? 'any'})` : t.event_name ? `the event ${t.event_name}` : `a purchase of ${t.product_id ?? 'any product'}`;
  return what + (filters && `, where ${filters}`);
}).join(', or ');
