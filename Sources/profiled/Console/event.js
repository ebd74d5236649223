// One event: what is stored of it, what it changed, and what became of it.
import {lastPosition} from './api.js';
import {copyButton} from './copy.js';
import {button, dim, facts, foreign, h, h1, inRow, number, para, ref, some, value} from './dom.js';
import {emptyView, panel} from './panel.js';
import {list} from './table.js';
import {userKey} from './router.js';
import {late, time} from './time.js';
import {deviceLink, eventLink, isContent, kindWords, mark, person, pinOf, plain, says, stateOf, told} from './words.js';

const known = new Set(['position', 'user', 'user_number', 'version', 'kind', 'recorded_at', 'occurred_at', 'source', 'process', 'device', 'erased', 'replaces', 'voided_by', 'profile_number']);
/** What stands before a field that can be asked why. */
const prefixes = {attributes: 'user ', custom_attributes: '', custom_events: 'event:', purchases: 'product:'};
export function mount(root, context) {
  const position = Number(context.id), isPosition = Number.isInteger(position) && position > 0;
  const heading = h1(`Event ${isPosition ? number(position) : context.id}`), others = h('div'), toAll = () => ref(context.link('events'), 'All events');
  context.title(`Event ${context.id}`);
  const move = (by) => { if (position + by >= 1 && position + by <= (context.store.position ?? Infinity)) context.go(context.link('events', position + by)); };
  const member = (name, v) => Array.isArray(v) && v.length && v.every(Number.isInteger) ? some(v, 50, (p) => eventLink(p)) : Number.isInteger(v) && /^(launch|cause|started|merge)$/.test(name) ? eventLink(v)
    : name === 'rejected' && v[0]?.position ? h('ul', v.map((r) => h('li', eventLink(r.position), ': ', foreign(r.reason)))) : v?.constructor === Object && Object.keys(v).length ? facts(...Object.entries(v).map(([k, x]) => [foreign(k), value(x)])) : value(v);

  const stored = panel(context, {
    title: 'What is stored', async load(ask) {
      const last = await lastPosition();
      return position > last ? null : (await ask.get('/v1/events', {after: position - 1, limit: 1})).events[0];
    },
    empty: (e) => e ? null : emptyView(`There is no event ${number(position)} yet.`, `The log ends at position ${number(context.store.position ?? 0)}.`, toAll()),
    show(e) {
      const {user, user_number: n} = e, isOfPerson = user && !e.erased, at = {at: position}, to = (params, label) => person(user, {number: n, params, label});
      heading.replaceChildren(mark(e.kind, stateOf(e)), `Event ${number(position)}: `, h('span', user ? foreign(user) : 'the store', ' ', says(e)));
      for (const [p, isShown] of [[changed, isOfPerson], [became, isOfPerson && e.device && /Saved$|Queued$/.test(e.kind)]]) {
        p.element.hidden = !isShown;
        if (isShown) p.load(e);
      }
      return [e.erased ? para('warn', 'The person was erased, and the content of this event with them.') : null,
        facts(['Kind', [kindWords(e.kind), ' ', h('code', {class: 'dim'}, e.kind)]], ['Person', [to(at), user ? dim(` · their event ${number(e.version)}`) : null]],
          ['Recorded', time(e.recorded_at, {form: 'full'})], ['Happened', [time(e.occurred_at, {form: 'full'}), ` · ${late(e.occurred_at, e.recorded_at)}`]], ['Source', [e.source, e.process && e.process !== e.source ? [', ', foreign(e.process)] : null]],
          e.device && ['Device', deviceLink(e.device, position)], e.replaces && ['Repairs', eventLink(e.replaces)], e.voided_by && ['Void', ['by ', eventLink(e.voided_by)]],
          ...Object.entries(e).filter(([name]) => !known.has(name)).map(([name, v]) => [plain(name), name === 'message' && user ? ref(context.link('messages', v, {user, at: position}), foreign(v)) : member(name, v)])),
        inRow(isOfPerson ? [to({at: position - 1}, 'The person before'), to(at, 'The person after')] : null, button('Pin (m)', pin),
          isOfPerson && isContent(e.kind) ? button('Who else?', (event) => whoElse(event.target)) : e.message ? ref(context.link('messages', e.message), 'Who else?') : null, copyButton(JSON.stringify(e, null, 2), 'Copy as JSON'))];
    },
  });
  const shown = ({group}, v) => v === undefined ? dim('nothing') : group === 'profile' && typeof v === 'string' ? time(v) : value(v);
  const changed = panel(context, {
    title: 'What it changed', load: (ask, e) => ask.get('/v1/diff', {user: e.user, a: position - 1, b: position, limit: 1000}),
    empty: ({changes}) => changes.length ? null : emptyView('It changed nothing of the profile.', 'A saved item takes effect with its flush.'),
    show: ({changes, user}) => list('Changed fields', ['Field', 'Before', 'After'], changes.map((c) => [
      [c.group in prefixes ? ref(context.link('users', userKey(user), {at: position, field: prefixes[c.group] + c.field}), foreign(c.field)) : foreign(c.field), dim(` ${plain(c.group)}`)], shown(c, c.before), shown(c, c.after)])),
  });
  const became = panel(context, {
    title: 'What became of it', load: (ask, e) => ask.get('/v1/messages/explain', {user: e.user, position}),
    show: ({links}) => h('ol', links.map((e) => h('li', eventLink(e.position), ' ', time(e.recorded_at), ' ', mark(e.kind), foreign(told(e)), e.position === position ? ' (this one)' : null))),
  });
  changed.element.hidden = became.element.hidden = true;
  async function whoElse(opener) {
    const e = stored.data, field = Object.keys(e.attributes ?? {})[0];
    opener.disabled = true;
    (await import('./who.js')).whoElse(others, {context, event: e, field: field ? `custom.${field}` : e.attribute ?? null, value: field ? e.attributes[field] : e.value, at: position});
  }
  async function pin() { if (stored.data) (await import('./pins.js')).pin(pinOf(stored.data)); }
  const turn = (by) => (event) => event.target.matches('.scroll') ? false : move(by);
  root.append(heading, h('div', {class: 'row', role: 'group', 'aria-label': 'Neighbours'}, button('← Event before', () => move(-1)), button('Event after →', () => move(1)), toAll()),
    isPosition ? h('div', {class: 'two'}, stored.element, h('div', {class: 'stack'}, changed.element, became.element)) : h('p', 'A position is a number from 1.'), others);
  context.keys(root, 'Event', {ArrowLeft: ['event before', turn(-1)], ArrowRight: ['event after', turn(1)], KeyM: ['pin', pin]});
  if (isPosition) stored.load();
}
export function update() {}
