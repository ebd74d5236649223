// One event: what is stored of it, what it changed, and what became of it.
import {facts, h, foreign, list, number, value, copyButton} from './dom.js';
import {panel, emptyView} from './panel.js';
import {time, late} from './time.js';
import {says, mark, person, kindWords, plain} from './words.js';

const known = new Set(['position', 'user', 'user_number', 'version', 'kind', 'recorded_at', 'occurred_at', 'source', 'process', 'device', 'storage', 'erased', 'app', 'item', 'key', 'replaces', 'voided_by', 'profile_number']);
const isContent = (kind) => /^(custom|user)(Event|Attributes?)(Saved|Logged|Changed|Queued)$|^purchase/.test(kind);
let place = null;

export function mount(root, context) {
  const position = Number(context.id);
  const heading = h('h1', {tabindex: '-1'}, `Event ${Number.isInteger(position) ? number(position) : context.id}`);
  context.title(`Event ${context.id}`);
  const to = (n, text) => h('a', {href: context.link('events', n)}, text ?? number(n));
  const positionList = (positions) => [positions.slice(0, 50).map((p, i) => [i ? ', ' : '', to(p)]), positions.length > 50 ? ` and ${number(positions.length - 50)} more` : null];
  const move = (by) => { if (position + by >= 1 && position + by <= (context.store.position ?? Infinity)) context.go(context.link('events', position + by)); };
  /** Numbers that are positions lead there. */
  const member = (name, v) => Array.isArray(v) && v.length && v.every(Number.isInteger) ? positionList(v)
    : Number.isInteger(v) && /^(launch|cause|started|merge)$/.test(name) ? to(v)
    : name === 'rejected' && v[0]?.position ? h('ul', null, v.map((r) => h('li', null, to(r.position), ': ', foreign(r.reason)))) : value(v);

  const stored = panel(context, {
    title: 'What is stored', async load(ask) {
      const last = context.store.position ?? (await ask.get('/v1/status')).last_position;
      return position > last ? null : (await ask.get('/v1/events', {after: position - 1, limit: 1})).events[0];
    },
    empty: (e) => e ? null : emptyView(`There is no event ${number(position)} yet.`, `The log ends at position ${number(context.store.position ?? 0)}.`, h('a', {href: context.link('events')}, 'All events')),
    show(e) {
      place.event = e;
      heading.replaceChildren(mark(e.kind), ` Event ${number(position)}: `, h('span', null, e.user ? foreign(e.user) : 'the store', ' ', ...[says(e)].flat(9).filter(Boolean)));
      changed.element.hidden = !e.user || e.erased;
      if (!changed.element.hidden) changed.load(e);
      became.element.hidden = !(e.user && e.device && !e.erased && /Saved$|Queued$/.test(e.kind));
      if (!became.element.hidden) became.load(e);
      const {user, user_number: n} = e, at = {at: position};
      const pairs = [['Kind', [kindWords(e.kind), ' ', h('code', {class: 'dim'}, e.kind)]], ['Person', [person(context, user, n, at), user ? h('span', {class: 'dim'}, ` · their event ${number(e.version)}`) : null]],
        ['Recorded', time(e.recorded_at, {form: 'full'})], ['Happened', [time(e.occurred_at, {form: 'full'}), ` · ${late(e.occurred_at, e.recorded_at)}`]], ['Source', [e.source, e.process && e.process !== e.source ? [', ', foreign(e.process)] : null]],
        e.device && ['Device', h('a', {href: context.link('devices', e.device, at)}, foreign(e.device))], e.storage && ['Storage', foreign(e.storage)], e.app && ['App', foreign(e.app)], e.item && ['Item', foreign(e.item)],
        e.key && ['Key', foreign(e.key)], e.replaces && ['Repairs', to(e.replaces)], e.voided_by && ['Void', ['by ', to(e.voided_by)]],
        ...Object.entries(e).filter(([name]) => !known.has(name)).map(([name, v]) => [name.replaceAll('_', ' '), typeof v === 'object' && v && !Array.isArray(v) && Object.keys(v).length
          ? facts(...Object.entries(v).map(([k, x]) => [foreign(k), value(x)])) : member(name, v)])];
      return [e.erased ? h('p', {class: 'warn'}, 'The person was erased, and the content of this event with them.') : null,
        facts(...pairs),
        h('div', {class: 'row'}, user && !e.erased ? [person(context, user, n, {at: position - 1}, 'The person before'), person(context, user, n, at, 'The person after')] : null,
          h('button', {type: 'button', on: {click: pinIt}}, 'Pin (m)'), user && isContent(e.kind) && !e.erased ? h('button', {type: 'button', on: {click: (event) => whoElse(event.target)}}, 'Who else?') : null,
          copyButton(JSON.stringify(e, null, 2), 'Copy as JSON'))];
    },
  });
  const shown = (v) => v === undefined ? h('span', {class: 'dim'}, 'nothing') : value(v);
  const changed = panel(context, {
    title: 'What it changed', load: (ask, e) => ask.get('/v1/diff', {user: e.user, a: position - 1, b: position}),
    empty: ({changes}) => changes.length ? null : emptyView('It changed nothing of the profile.', 'A saved item takes effect with its flush; a step of the device or of a message may change no field.'),
    show: ({changes, user}) => list('Changed fields', ['Field', 'Before', 'After'], changes.map((c) => [
      [h('a', {href: context.userLink(user, {at: position, field: c.field})}, foreign(c.field)), h('span', {class: 'dim'}, ` ${c.group.replaceAll('_', ' ')}`)], shown(c.before), shown(c.after)])),
  });
  const became = panel(context, {
    title: 'What became of it', load: (ask, e) => ask.get('/v1/messages/explain', {user: e.user, position}),
    show: ({links}) => h('ol', null, links.map((e) => h('li', null, to(e.position), ' ', time(e.recorded_at), ' ', mark(e.kind), ' ', says(e), e.position === position ? ' (this one)' : null))),
  });
  changed.element.hidden = became.element.hidden = true;
  const all = h('div');
  async function whoElse(button) {
    const e = stored.data, m = await import('./who.js');
    button.disabled = true;
    const field = Object.keys(e.attributes ?? {})[0];
    m.whoElse(all, {context, user: e.user, event: e, field: field ? `custom.${field}` : e.attribute ?? null, value: field ? e.attributes[field] : e.value, at: position});
  }
  const pinIt = () => import('./pins.js').then((m) => { const e = stored.data; if (e) m.pin({place: 'events', id: position, at: position, user: e.user, sentence: plain([e.user ?? 'the store', ' ', says(e)]), time: e.recorded_at, value: e.attributes ?? e.properties ?? e.value}); });
  place = {};
  const keys = h('div', {class: 'row', role: 'group', 'aria-label': 'Neighbours'}, h('button', {type: 'button', on: {click: () => move(-1)}}, '← Event before'), h('button', {type: 'button', on: {click: () => move(1)}}, 'Event after →'), h('a', {href: context.link('events')}, 'All events'));
  root.append(heading, keys, h('div', {class: 'two'}, stored.element, h('div', {class: 'stack'}, changed.element, became.element)), all);
  context.keys(root, 'Event', {ArrowLeft: ['event before', (e) => e.target.matches('.scroll') ? false : move(-1)], ArrowRight: ['event after', (e) => e.target.matches('.scroll') ? false : move(1)], KeyM: ['pin', pinIt]});
  if (Number.isInteger(position) && position > 0) stored.load(); else stored.element.replaceWith(h('p', null, 'A position is a number from 1.'));
}
export function update() {}
