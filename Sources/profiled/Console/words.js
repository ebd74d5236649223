// Events in words and marks, for every list of them.
//   says(e)   'saved “Viewed Home” on phone'      told(e)   with the reason: 'not sent “spring” by email: unsubscribed'
import {get, isAbort, lastPosition} from './api.js';
import {button, count, dim, foreign, h, number, ref, uncut} from './dom.js';
import {go, isAddress, link, userKey} from './router.js';

const three = (end) => [`customEvent${end}`, `customAttributes${end}`, `userAttributes${end}`, `purchase${end}`];
export const families = [
  ['saved', 'Saved on a device', ['customEventSaved', 'customAttributesSaved', 'userAttributeSaved']],
  ['logged', 'Effective at once', ['customEventLogged', 'customAttributesChanged', 'userAttributesChanged', 'purchaseLogged']],
  ['queued', 'Queued by the SDK', three('Queued')],
  ['app', 'The app and the device', ['appLaunched', 'pendingFlushed', 'pendingDiscarded', 'sessionStarted', 'sessionEnded', 'appLeft', 'dataSent', 'deviceChanged', 'appRemoved']],
  ['messages', 'Messages', ['messageSent', 'messageNotSent', 'messageScheduled', 'messageUnscheduled', 'pushReceived', 'pushNotReceived', 'pushCaptured', 'pushExpanded',
    'pushOpened', 'pushActionChosen', 'pushDismissed', 'pushProcessed', 'inAppMessageShown', 'inAppMessageWaiting', 'inAppMessageIgnored', 'inAppMessageDiscarded',
    'inAppMessageClicked', 'inAppMessageClosed']],
  ['identity', 'Who is who', ['userCreated', 'userIdentified', 'userChanged', 'userLoggedOut', 'usersMerged', 'aliasAdded', 'aliasRenamed', 'externalIDRenamed', 'externalIDRemoved', 'userErased']],
  ['store', 'Decisions about the store', ['eventVoided', 'eventUnvoided', 'rulesChanged', 'objectsLeftOut']],
];
const shapes = [[/customEvent/, 'event'], [/Attribute/i, 'attribute'], [/^purchase/, 'purchase'], [/^appLaunched/, 'launch'], [/^(pending(F|D)|dataSent)/, 'flush'], [/^(session|appLeft)/, 'session'],
  [/^messageSent/, 'message'], [/^message/, 'unsent'], [/^(push|inApp)/, 'push'], [/^(user|alias|externalID|appRemoved)/, 'identity'], [/./, 'rules']];
export const shapeOf = (kind) => shapes.find(([pattern]) => pattern.test(kind))[1];
/** Shapes as text: full, hollow, half filled. */
const symbols = {event: '●○◐', attribute: '■□◧', purchase: '◆◇⬖', launch: '▮', session: '▬', flush: '╵', message: '▲', unsent: '△', push: '⬠', identity: '◎', rules: '▬'};
export const symbol = (shape, state = 'effective') => [...symbols[shape]][{waits: 1, void: 1, queued: 2}[state] ?? 0] ?? symbols[shape];
export const mark = (kind, state = 'effective') => h('span', {class: `mark ${state}`, 'data-mark': symbol(shapeOf(kind), state), title: kindWords(kind), 'aria-hidden': 'true'});

export const contents = /^(customEvent|customAttributes|userAttributes?|purchase)(Saved|Logged|Changed|Queued)$/, isContent = (kind) => contents.test(kind);
const isStep = (e) => /^(message|push|inApp)/.test(e.kind);
export const stateOf = ({kind}) => /Not(Sent|Received)$|Ignored$|Discarded$/.test(kind) ? 'refused' : /Waiting$|Captured$|Saved$/.test(kind) ? 'waits' : /Queued$/.test(kind) ? 'queued' : 'effective';
export const plain = (word) => String(word ?? '').replaceAll('_', ' ');
export const kindWords = (kind) => kind.replace('inApp', 'in-app').replace(/ID|[A-Z]/g, (c) => ` ${c === 'ID' ? c : c.toLowerCase()}`);
export const subject = (e) => e.name ?? e.product ?? e.attribute ?? Object.keys(e.attributes ?? e.user_attributes ?? {}).join(', ');
const items = (all, done) => `${done} ${count(all?.length ?? 0, 'item')}`;
const words = {
  userCreated: () => 'was created', userIdentified: (e) => ['is known as ', e.ids?.[0] ?? '?', ' now'], userChanged: () => 'came to the device', userLoggedOut: () => 'logged out', userErased: () => 'was erased',
  usersMerged: (e) => ['took over the person with number ', e.merged_user_number], aliasAdded: (e) => ['has the alias ', e.id], externalIDRemoved: (e) => ['lost the ID ', e.released],
  aliasRenamed: (e) => ['is ', e.to, ' now, and was ', e.from], externalIDRenamed: (e) => ['is ', e.to, ' now, and was ', e.from],
  appLaunched: (e) => `started the app (${e.launch_kind})`, sessionStarted: () => 'began a session', sessionEnded: () => 'ended a session', appLeft: () => 'left the app', appRemoved: () => 'removed the app', deviceChanged: () => 'set up the device',
  pendingFlushed: (e) => items(e.flushed, e.queued ? 'handed to the SDK' : 'flushed') + (e.rejected?.length ? `, ${e.rejected.length} refused` : ''),
  pendingDiscarded: (e) => items(e.discarded, 'discarded'), dataSent: (e) => `${items(e.sent, 'sent')} of the queue`, eventVoided: () => 'made an event void', eventUnvoided: () => 'made an event count again',
  rulesChanged: () => 'changed the rules', objectsLeftOut: (e) => `sent ${count(e.left_out?.length ?? 0, 'part')} that the request could not use`,
};
/** An event as texts: what others chose stands alone. */
function parts(e) {
  if (e.erased) return [kindWords(e.kind), ' (erased)'];
  const on = e.device ? [' on ', e.device] : [], by = e.channel ? ` by ${plain(e.channel)}` : '';
  if (words[e.kind]) return [words[e.kind](e), on].flat();
  if (isStep(e)) return [kindWords(e.kind).replace(by ? /^(message|push) / : /^message /, ''), e.message ? [' “', e.message, '”'] : [], by, on].flat(2);
  const verb = /Saved$/.test(e.kind) ? 'saved ' : /Queued$/.test(e.kind) ? 'queued ' : e.source === 'import' ? 'imported ' : e.product ? 'bought ' : e.name ? 'logged ' : 'set ';
  return [verb, e.name || e.product ? ['“', subject(e), '”'] : subject(e), on].flat(2);
}
export const says = (e) => parts(e).map((part) => uncut(part));
export const told = (e) => parts(e).join('') + (e.reason ? `: ${e.reason}` : '');
const toldOf = (e) => `${e.user ?? 'the store'} ${told(e)}`;

/** A link to a person; of an ID that is an address by the braze_id, so that it comes into no address. */
export function person(user, {number: n, params, label} = {}) {
  if (!user) return dim(n ? `person ${n} (erased)` : 'the store');
  const key = userKey(user), text = label ?? uncut(typeof user === 'string' ? user : user.id ?? key);
  if (!isAddress(key)) return ref(link('users', key, params), text);
  return button(text, async () => {
    const {braze_id} = n ? (await get('/v1/users', {after: n - 1, limit: 1})).users[0] : await get('/v1/profile', {user: key});
    go(link('users', `braze:${braze_id}`, params));
  }, {class: 'text'});
}
export const deviceLink = (name, at) => ref(link('devices', name, {at}), foreign(name));
export const eventLink = (position, text = number(position)) => ref(link('events', position), text);
export const positionColumn = {head: 'Position', width: '72px', num: true, cell: (e) => eventLink(e.position)};
export const pinOf = (e) => ({place: 'events', id: e.position, at: e.position, user: e.user, sentence: toldOf(e), time: e.recorded_at, value: e.attributes ?? e.properties ?? e.value});


/** `after` for the newest events of the chosen moment, in a list with reverse=true. */
export const beyond = async ({at}) => at !== null && await lastPosition() > at ? at + 1 : undefined;
export const byThen = (all, at) => (all ?? []).filter((e) => at === null || e.position <= at);
/** Events by a filter: an answer of a part of a long log goes on. `after` is where the next page begins, or null. */
export async function eventsBy(ask, query, tries = 20) {
  const events = [];
  for (; ; tries--) {
    const answer = await ask('/v1/events', query), isOver = query.reverse ? answer.scanned <= 1 : answer.scanned >= answer.last;
    events.push(...answer.events);
    if (isOver || events.length >= query.limit || (tries <= 1 && events.length)) return {events, after: isOver ? null : answer.cursor};
    query = {...query, after: answer.cursor};
  }
}


/** What became of a message for a person, by explain: [{kind, state, text}], one a channel. */
export function fates(answer, at = null) {
  const last = new Map(byThen(answer.links, at).filter(isStep).map((e) => [e.channel, e]));
  if (last.size) return [...last.values()].map(fate);
  const near = [...new Set(byThen(answer.misses, at).map((m) => m.reason))].slice(-2);
  return [{kind: 'messageNotSent', state: 'refused', text: `not shown: ${answer.reason ?? 'it was not sent by then'}${near.length ? `. What came near: ${near.join('. And: ')}` : ''}`}];
}
export const fate = (e) => ({kind: e.kind, state: stateOf(e), text: told({...e, message: null}) + (e.screen ? `; seen: ${plain(e.screen)}` : '')});
const messageKinds = families.find(([key]) => key === 'messages')[2].filter((kind) => !/cheduled$/.test(kind));
export const messageSteps = messageKinds.join(','), sendSteps = messageKinds.filter((kind) => !/^inApp/.test(kind)).join(',');
/** Sends, newest first, each with `then`, the last step of its push. `later`: steps whose send is to come. The catalogue of in-app messages is no send. */
export const sendsOf = (events, later = new Map()) => events.filter((e) => e.channel !== 'in_app_message').flatMap((e) => {
  const then = later.get(e.position);
  later.delete(e.position);
  if (/^message/.test(e.kind) || !Number.isInteger(e.cause)) return [{...e, then}];
  if (!later.has(e.cause)) later.set(e.cause, then ?? e);
  return [];
});
/** "3 sent, 1 received, 2 not received: why". */
export function tally(sends) {
  const last = sends.map((e) => e.then ?? e), of = (pattern) => last.filter((e) => pattern.test(e.kind)), why = (all) => [...new Set(all.map((e) => e.reason))].slice(0, 3).join('; or ');
  const lost = of(/NotReceived$/), unsent = of(/NotSent$/), quiet = of(/^messageSent$/).length, opened = of(/Opened$|Chosen$/).length;
  return [`${number(sends.length - unsent.length)} sent`, `${number(sends.length - unsent.length - lost.length - quiet)} received${opened ? ` (${number(opened)} opened)` : ''}`, lost.length && `${number(lost.length)} not received: ${why(lost)}`,
    quiet && `${number(quiet)} of which nothing is known on a device`, unsent.length && `${number(unsent.length)} not sent: ${why(unsent)}`].filter(Boolean).join(', ');
}
export const fateView = (all) => all.map((f) => h('div', {class: 'fate'}, mark(f.kind, f.state), foreign(f.text, {cut: f.text.length > 400})));
/** The fates of a message for a person; null if nothing is known of it for them. */
export async function fatesOf(ask, user, message, at) {
  try { return fates(await ask('/v1/messages/explain', {user, message}), at); } catch (error) {
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
