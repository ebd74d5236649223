// One message: whom it reached and whom not; for one person the chain from its cause to the screen, what came near to
// triggering it, and which part of an audience's condition fails. `user=` chooses the person, `segment=` or `where=` the condition.
import {h, foreign, value, count, copyLine, newID, segments as group} from './dom.js';
import {panel, emptyView} from './panel.js';
import {get, isAbort} from './api.js';
import {userKey} from './router.js';
import {time, span, between} from './time.js';

const channels = {apple_push: 'push (Apple)', android_push: 'push (Android)', in_app_message: 'in-app message', email: 'e-mail', sms: 'SMS'};
export const channelName = (c) => channels[c] ?? String(c ?? '').replaceAll('_', ' ');
const screens = {notification: 'as a notification', extension_interface: 'with the extension’s interface', valid_input: 'with valid input', confirmation: 'with a confirmation', default_interface: 'with the system’s interface'};
const words = {
  messageSent: (e) => `sent by ${channelName(e.channel)}${e.device ? ` to ${e.device}` : ''}`, messageNotSent: (e) => `not sent by ${channelName(e.channel)}`,
  pushReceived: (e) => `received${e.screen ? `, shown ${screens[e.screen] ?? e.screen}` : ''}`, pushNotReceived: () => 'not received', pushExpanded: () => 'expanded',
  pushActionChosen: (e) => `button or input: ${e.action ?? ''}`, pushOpened: () => 'opened', pushDismissed: () => 'dismissed', pushCaptured: () => 'captured for the SDK', pushProcessed: () => 'processed by the SDK',
  inAppMessageShown: (e) => `shown on ${e.device}`, inAppMessageWaiting: () => 'triggered, and waits', inAppMessageIgnored: () => 'triggered, and ignored', inAppMessageDiscarded: () => 'discarded',
  inAppMessageClicked: () => 'clicked', inAppMessageClosed: () => 'closed', appLaunched: (e) => `the app starts (${e.launch_kind})`, sessionStarted: () => 'a session starts', sessionEnded: () => 'the session ends',
  appLeft: () => 'the app leaves the foreground', appRemoved: () => 'the app is removed', userLoggedOut: () => 'log-out', userChanged: () => 'another person is on the device', deviceChanged: () => 'settings changed',
  pendingFlushed: (e) => `${count(e.flushed.length, 'item')} ${e.queued ? 'handed to the SDK' : 'flushed'}${e.rejected.length ? `, ${e.rejected.length} refused` : ''}`,
  dataSent: (e) => `the SDK sends ${count(e.sent.length, 'item')}`, pendingDiscarded: (e) => `${count(e.discarded.length, 'item')} discarded`,
};
/** What an event is about: its name, product or attributes. */
export const subject = (e) => e.name ?? e.product ?? e.attribute ?? (e.attributes ? Object.keys(e.attributes).join(', ') : e.user_attributes ? Object.keys(e.user_attributes).join(', ') : '');
const spoken = (kind) => kind.replace(/([A-Z])/g, ' $1').toLowerCase();
/** An event as a few words, with its reason: "not sent by e-mail: unsubscribed". */
export function told(e, {reason = true} = {}) {
  const about = subject(e);
  const text = words[e.kind]?.(e) ?? (/^custom|^user|^purchase/.test(e.kind) && about ? `${/Saved$/.test(e.kind) ? 'saved' : /Queued$/.test(e.kind) ? 'taken by the SDK' : 'logged'}: ${about}` : spoken(e.kind));
  return text + (reason && e.reason ? `: ${e.reason}` : '');
}
const failed = /^(messageNotSent|pushNotReceived|inAppMessageIgnored|inAppMessageDiscarded)$/, waits = /Waiting$|Captured$|Queued$|Saved$/;
export const stateOf = (e) => failed.test(e.kind) ? 'refused' : waits.test(e.kind) ? 'waits' : 'effective';
const isStep = (e) => /^(message|push|inApp)/.test(e.kind);
/** A mark: its shape says the kind, its fill and colour the state, which the words beside it say too. */
export const mark = (shape, state) => h('span', {class: `mark ${shape} ${state}`, 'aria-hidden': 'true'});

/** What became of a message for a person, by the answer of explain: [{state, text, event}], one for each channel. */
export function fates(answer, at = null) {
  const last = new Map();
  for (const e of answer.links) if (isStep(e) && (at === null || e.position <= at)) last.set(e.channel, e);
  if (last.size) return [...last.values()].map((event) => ({state: stateOf(event), text: told(event), event}));
  const near = (answer.misses ?? []).filter((m) => at === null || m.position <= at);
  return [{state: 'refused', text: `not shown: ${answer.reason ?? (answer.links.length ? 'it was not sent by then' : 'nothing triggered it')}${near.length ? `. Nearest: ${near.at(-1).reason}` : ''}`, event: near.at(-1)}];
}
export const fateView = (list) => list.map((f) => h('p', null, mark('message', f.state), ' ', foreign(f.text)));

/** When an in-app message is triggered, in words. */
const comparators = {1: 'is', 2: 'is not', 3: 'is more than', 4: 'is at least', 5: 'is less than', 6: 'is at most', 10: 'matches', 17: 'does not match', 11: 'exists', 12: 'does not exist'};
export function triggerText(t) {
  const wanted = (t.property_filters ?? []).map((any) => any.map((f) => `${f.property_key} ${comparators[f.comparator] ?? `compares (${f.comparator})`}${f.property_value === undefined ? '' : ` ${JSON.stringify(f.property_value)}`}`).join(' or ')).join(' and ');
  const what = {open: 'a session starts', push_click: `a push is opened${t.campaign_id ? ` (${t.campaign_id})` : ''}`}[t.type] ?? (t.type.startsWith('purchase') ? `a purchase of ${t.product_id ?? 'any product'}` : `the event ${t.event_name}`);
  return wanted ? `${what}, where ${wanted}` : what;
}

const MOST = 20;
let panels = null;
export function mount(root, context) {
  const id = context.id;
  context.title(id);
  const at = () => context.at;
  const asked = () => context.params.user;

  const who = panel(context, {
    title: 'Who got it, and who did not', load: async (ask) => {
      const before = at() !== null && context.store.position > at() ? at() + 1 : undefined;
      const [events, declared, devices] = await Promise.all([
        ask.get('/v1/events', {name: id, kind: 'messageSent,messageNotSent,pushReceived,pushNotReceived,pushOpened,pushDismissed,inAppMessageShown,inAppMessageWaiting,inAppMessageIgnored,inAppMessageDiscarded,inAppMessageClicked,inAppMessageClosed', reverse: true, limit: 1000, after: before}),
        ask.get('/v1/messages', {}), ask.get('/v1/devices', {limit: 100, as_of: at() ?? undefined})]);
      const definition = declared.messages.find((m) => m.id === id);
      const people = new Map();
      for (const e of events.events) {
        if (e.user === null || (at() !== null && e.position > at())) continue;
        const key = userKey(e.user);
        if (!people.has(key)) people.set(key, {key, name: e.user, channels: new Map()});
        const steps = people.get(key).channels;
        if (!steps.has(e.channel)) steps.set(e.channel, {state: stateOf(e), text: told(e), event: e});
      }
      // An in-app message without a step has no event: those on whose device it could have been shown are asked one by one.
      const others = definition ? [...new Map(devices.devices.filter((d) => d.user).map((d) => [userKey(d.user), d.user])).entries()].filter(([key]) => !people.has(key)) : [];
      const reasons = await Promise.all(others.slice(0, MOST).map(async ([key, user]) => {
        try { return {key, name: user.id ?? user.braze_id, list: fates(await ask.get('/v1/messages/explain', {user: key, message: id}), at())}; } catch (error) { if (isAbort(error)) throw error; return {key, name: user.id, list: [{state: 'refused', text: error.error}]}; }
      }));
      return {definition, people: [...reasons, ...[...people.values()].map((p) => ({...p, list: [...p.channels.values()]}))], unasked: Math.max(0, others.length - MOST), isCut: events.events.length === 1000};
    },
    empty: (d) => d.people.length || d.definition ? null : emptyView('Nobody was sent this message, and no in-app message has this ID.', 'Look at what was sent: the ID may be written in another way.', h('a', {href: context.link('messages')}, 'All messages')),
    show: (d) => {
      const few = d.people.slice(0, 100);
      return [
        d.definition ? h('p', null, 'An in-app message', d.definition.message ? [': “', foreign(d.definition.message), '”'] : null, '. It is shown when ', foreign(d.definition.trigger_conditions.map(triggerText).join(', or ')), '.') : null,
        few.length ? h('div', {class: 'scroll'}, h('table', {class: 'list'}, h('thead', null, h('tr', null, h('th', {scope: 'col'}, 'Person'), h('th', {scope: 'col'}, 'What became of it'), h('th', {scope: 'col'}, h('span', {class: 'hide'}, 'Why')))),
          h('tbody', null, few.map((p) => h('tr', {class: p.key === asked() ? 'chosen' : null}, h('td', null, h('a', {href: context.userLink(p.name, {at: at()})}, foreign(p.name))),
            h('td', null, fateView(p.list)), h('td', null, h('button', {type: 'button', 'aria-pressed': String(p.key === asked()), 'aria-label': `Why, for ${p.name}`, on: {click: () => context.set({user: p.key}, {push: true})}}, 'Why'))))))) : h('p', null, 'Nobody has had it, and nobody is on a device.'),
        few.length < d.people.length || d.isCut ? h('p', {class: 'dim'}, `The latest ${few.length} people. Ask for another one below.`) : null,
        d.unasked ? h('p', {class: 'dim'}, `${count(d.unasked, 'other person', 'other people')} on devices: ask by name below.`) : null];
    },
  });

  const field = h('input', {id: newID('user'), value: asked() ?? '', autocomplete: 'off', spellcheck: 'false', required: true});
  const askForm = h('form', {class: 'row', on: {submit(event) { event.preventDefault(); context.set({user: field.value.trim()}, {push: true}); }}},
    h('label', {for: field.id}, 'Person'), field, h('button', null, 'Why?'));
  const why = panel(context, {
    title: 'Why', load: async (ask) => {
      if (!asked()) return null;
      const answer = await ask.get('/v1/messages/explain', {user: asked(), message: id});
      const key = userKey(answer.user);
      if (key !== asked() && !/^(email|phone|device):/.test(key)) queueMicrotask(() => { context.params.user === asked() && replaceUser(key); });
      return answer;
    },
    empty: (a) => a ? null : emptyView('Here is the chain from the cause to the screen.', 'Choose a person of the list, or name one.'),
    show: (a) => {
      const links = a.links.filter((e) => at() === null || e.position <= at()), misses = (a.misses ?? []).filter((m) => at() === null || m.position <= at());
      const begin = links[0];
      return [
        h('div', {class: 'verdict'}, fateView(fates(a, at()))),
        at() !== null && a.reason ? h('p', {class: 'dim'}, 'The sentence is of now; lists end at the chosen moment.') : null,
        links.length ? h('ol', {class: 'chain plain'}, links.map((e) => h('li', null,
          mark(isStep(e) ? 'message' : /^app|^session/.test(e.kind) ? 'launch' : 'event', stateOf(e)), h('div', null, h('p', null, h(failed.test(e.kind) ? 'strong' : 'span', null, foreign(told(e)))),
            h('p', {class: 'small dim'}, time(e.recorded_at, {form: 'full'}), e === begin ? null : ` · ${span(between(begin.recorded_at, e.recorded_at))} later`, ' · ', h('a', {href: context.link('events', e.position)}, `position ${e.position}`),
              e.cause ? ` · because of ${e.cause}` : null, e.device ? [' · ', h('a', {href: context.link('devices', e.device, {at: e.position})}, foreign(e.device), ' then')] : null))))) : null,
        a.more ? h('p', {class: 'dim'}, 'There are more steps: these are the first.') : null,
        misses.length ? [h('h3', null, 'What came near, and why it did not trigger it'), h('ul', {class: 'chain plain'}, misses.toReversed().map((m) => h('li', null, mark('event', 'refused'), h('div', null,
          h('p', null, h('strong', null, foreign(m.reason))), h('p', {class: 'small dim'}, spoken(m.kind), ' · ', time(m.at, {form: 'full'}), ' · ', h('a', {href: context.link('events', m.position)}, `position ${m.position}`)), m.look ? copyLine(m.look) : null))))] : null];
    },
  });
  function replaceUser(key) { if (context.signal.aborted) return; context.params.user = key; history.replaceState(null, '', context.link('messages', id, context.params)); }

  const where = h('input', {id: newID('where'), value: context.params.where ?? '', placeholder: 'custom.level >= 3', autocomplete: 'off', spellcheck: 'false'});
  const segment = h('select', {id: newID('segment')}, h('option', {value: ''}, 'a condition:'));
  const part = (p) => h('li', {class: p.decides ? 'decides' : null, vars: {'--depth': p.depth}}, h('p', null,
    h('strong', {class: p.holds ? 'ok' : 'bad'}, p.holds ? 'holds' : 'does not hold'), p.decides ? ' and decides: ' : ': ', h('code', {class: 'wrap'}, foreign(p.kind === 'comparison' ? p.text : {and: 'all of these', or: 'any of these', not: 'not this'}[p.kind]))),
    p.kind === 'comparison' ? h('p', {class: 'small dim'}, p.value === null || p.value === undefined ? 'The person has no such value' : ['The value is ', value(p.value)], p.set ? [', since ', time(p.set.recorded_at), ', ', h('a', {href: context.link('events', p.set.position)}, `position ${p.set.position}`)] : p.reason ? `: ${p.reason}` : '', '.') : null);
  const condition = panel(context, {
    title: 'Which part of the condition fails', load: (ask) => {
      const {segment: s, where: w} = context.params;
      return asked() && (s || w) ? ask.get('/v1/users/explain', {user: asked(), segment: s, where: s ? undefined : w, as_of: at() ?? undefined}) : null;
    },
    empty: (a) => a ? null : emptyView('A send to a segment leaves no event for those who are not in it.', asked() ? 'Choose the segment of the campaign, or write a condition.' : 'Choose a person first, then the segment or a condition.'),
    show: (a) => [h('p', null, h('strong', {class: a.holds ? 'ok' : 'bad'}, a.holds ? 'In it. ' : 'Not in it. '), foreign(a.reason)), h('ul', {class: 'parts plain'}, a.parts.map(part))],
  });
  const conditionForm = h('form', {class: 'row', on: {submit(event) {
    event.preventDefault();
    context.set({segment: segment.value, where: segment.value ? null : where.value.trim()}, {push: true});
  }}}, h('label', {for: segment.id}, 'In'), segment, h('label', {class: 'hide', for: where.id}, 'Condition'), where, h('button', null, 'Check'));
  segment.addEventListener('change', () => { where.hidden = segment.value !== ''; });

  root.append(h('h1', {tabindex: '-1'}, foreign(id)), h('div', {class: 'two'}, who.element, h('div', {class: 'panels'}, why.element, condition.element)));
  why.element.insertBefore(askForm, why.element.children[1]);
  panels = {who, why, condition, field, where, segment};
  context.ready.then(async () => {
    if (context.signal.aborted) return;
    if (context.has('GET /v1/users/explain')) condition.element.insertBefore(conditionForm, condition.element.children[1]); else condition.element.hidden = true;
    reload(context);
    if (context.has('GET /segments/list') && context.can('segments.list')) try {
      const {segments} = await get('/segments/list', {page: 0}, {signal: context.signal, quiet: true});
      segment.append(...segments.map((s) => h('option', {value: s.id}, s.name)));
      if (context.params.segment) { segment.value = context.params.segment; where.hidden = segment.value !== ''; }
    } catch { /* a condition can be written all the same */ }
    if (segment.length === 1) segment.hidden = true;
  });
}
let known = '';
function reload(context) {
  const now = JSON.stringify([context.id, context.at]);
  if (known !== now || panels.who.data === null) panels.who.load();
  else for (const b of panels.who.body.querySelectorAll('button[aria-pressed]')) b.setAttribute('aria-pressed', 'false');
  known = now;
  panels.why.setTitle(context.params.user ? ['Why, for ', foreign(context.params.user)] : 'Why');
  panels.why.load();
  panels.condition.load();
}
export function update(context) {
  panels.field.value = context.params.user ?? '';
  panels.where.value = context.params.where ?? '';
  panels.segment.value = context.params.segment ?? '';
  reload(context);
}
