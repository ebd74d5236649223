// Events in words, for every list of them.
//   mark(kind)             its shape, with the kind for who points at it: row and shape say the kind
//   says(event)            nodes: 'saved the event “Viewed Home” on phone'   kindWords('appLeft') 'app left'
//   person(context, user, number, params, label?)   a link to a person, USER as in answers. An ID that is an address is asked for its braze_id first, so that
//                          no address comes into an address.    plain(nodes) their text
//   families               groups of kinds for a filter: [['saved', 'Saved on a device', ['customEventSaved', …]], …]
import {get} from './api.js';
import {h, foreign, printable} from './dom.js';

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
const shapes = [[/^(custom)?event(Voided|Unvoided)|^rules|^objects/i, '▬'], [/^customEvent/, '●'], [/Attribute/, '■'], [/^purchase/, '◆'], [/^appLaunched/, '▮'], [/^session/, '▂'],
  [/^(pendingF|dataS)/, '╵'], [/^messageNot/, '△'], [/^message/, '▲'], [/^(push|inApp)/, '⬠']];
export const kindWords = (kind) => kind.replace(/^inApp/, 'inApp-').replace(/[A-Z]+/g, (c) => ` ${c === 'ID' ? c : c.toLowerCase()}`).replace('in app- ', 'in-app ').trim();
export const mark = (kind) => h('span', {class: 'sign', title: kindWords(kind), 'aria-hidden': 'true', 'data-shape': shapes.find(([p]) => p.test(kind))?.[1] ?? '◎'});

const quoted = (name) => ['“', foreign(name), '”'];
const fields = (e) => {
  const all = Object.keys(e.attributes ?? e.user_attributes ?? (e.attribute ? {[e.attribute]: 0} : {}));
  return [all.slice(0, 3).map((f, i) => [i ? ', ' : '', foreign(f)]), all.length > 3 ? ` and ${all.length - 3} more` : null];
};
const some = (list, word) => `${list?.length ?? 0} ${word}${list?.length === 1 ? '' : 's'}`;
const reason = (e) => e.reason ? [': ', foreign(e.reason)] : null;
const words = {
  userCreated: () => 'was created', userIdentified: (e) => ['is known as ', foreign(e.ids?.[0] ?? '?'), ' now'], userChanged: () => 'came to the device', userLoggedOut: () => 'logged out',
  usersMerged: (e) => ['took over the person with number ', String(e.merged_user_number)], userErased: (e) => ['was erased', reason(e)],
  aliasAdded: (e) => ['has the alias ', foreign(e.id)], externalIDRemoved: (e) => ['lost the ID ', foreign(e.released)],
  appLaunched: (e) => `started the app (${e.launch_kind})`, sessionStarted: () => 'began a session', sessionEnded: () => 'ended a session', appLeft: () => 'left the app', appRemoved: () => 'removed the app',
  pendingFlushed: (e) => `flushed ${some(e.flushed, 'item')}${e.rejected?.length ? `, ${e.rejected.length} rejected` : ''}${e.queued ? ' into the queue' : ''}`,
  pendingDiscarded: (e) => [`discarded ${some(e.discarded, 'item')}`, reason(e)], dataSent: (e) => `sent ${some(e.sent, 'item')} of the queue`, deviceChanged: () => 'set up the device',
  eventVoided: (e) => ['made an event void', reason(e)], eventUnvoided: (e) => ['made an event count again', reason(e)],
  rulesChanged: () => 'changed the rules', objectsLeftOut: (e) => `sent ${some(e.left_out, 'part')} that ${e.left_out?.length === 1 ? 'was' : 'were'} refused`,
};
export function says(e) {
  if (e.erased) return [kindWords(e.kind), ' (erased)'];
  const on = e.device ? [' on ', foreign(e.device)] : null;
  if (words[e.kind]) return [words[e.kind](e), on];
  if (/^(aliasR|externalIDRenamed)/.test(e.kind)) return ['is ', foreign(e.to), ' now, and was ', foreign(e.from)];
  if (/^(message|push|inApp)/.test(e.kind)) return [kindWords(e.kind), e.message ? [' ', ...quoted(e.message)] : null, on, reason(e)];
  const verb = /Saved$/.test(e.kind) ? 'saved' : /Queued$/.test(e.kind) ? 'queued' : e.source === 'import' ? 'imported' : 'logged';
  if (e.product) return [verb === 'logged' ? 'bought ' : `${verb} the purchase `, ...quoted(e.product), on];
  if (e.name) return [`${verb} the event `, ...quoted(e.name), on];
  return [verb === 'logged' ? 'set ' : `${verb} `, fields(e), on];
}
export function person(context, user, number, params = {}, label = foreign(user ?? '')) {
  if (!user) return h('span', {class: 'dim'}, number ? `person ${number} (erased)` : 'the store');
  const isAddress = /^(email|phone):/.test(user) || (!/^(alias|braze|id):/.test(user) && (/@/.test(user) || /^\+?[\d ()-]{7,}$/.test(user)));
  if (!isAddress) return h('a', {href: context.link('users', user, params)}, label);
  return h('button', {type: 'button', class: 'text', on: {async click() {
    const {signal} = context;
    const found = number ? (await get('/v1/users', {after: number - 1, limit: 1}, {signal})).users[0] : await get('/v1/profile', {user}, {signal});
    context.go(context.link('users', `braze:${found.braze_id}`, params));
  }}}, label);
}
export const plain = (nodes) => { const box = document.createElement('span'); box.append(...[nodes].flat(9).filter((n) => n !== null && n !== undefined)); return printable(box.textContent); };
