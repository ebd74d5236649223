// Two profiles beside each other: handle A and handle B, or as it arrived and as it happened.
//   flatten({address: {city: 'Bonn'}})   [['address.city', 'Bonn']]: parts named as in /v1/blame; cell(value) '–' for none
import {foreign, para, value} from './dom.js';
import {panel, emptyView} from './panel.js';
import {list} from './table.js';
import {time} from './time.js';

export function flatten(object, prefix = '', into = []) {
  for (const [name, v] of Object.entries(object)) {
    const path = Array.isArray(object) ? `${prefix}[${name}]` : prefix ? `${prefix}.${name}` : name;
    if (v !== null && typeof v === 'object' && !JSON.isRawJSON?.(v) && Object.keys(v).length) flatten(v, path, into); else into.push([path, v]);
  }
  return into;
}
export const isPart = (field, name) => field === name || (field.startsWith(name) && /^[.[]/.test(field.slice(name.length)));
export const cell = (v) => v === undefined || v === null ? '–' : value(v);

const all = (p) => [...['attributes', 'custom_attributes', 'traits'].flatMap((group) => flatten(p[group] ?? {}).map(([field, v]) => [group, field, v])),
  ...p.custom_events.map((e) => ['custom_events', e.name, e.count]), ...p.purchases.map((e) => ['purchases', e.product, e.count]), ['profile', 'first seen', p.first_seen], ['profile', 'last seen', p.last_seen]];
const MOST = 40;

export function compare(context, {look, user: person}) {
  let what = null;
  const show = ({heads, rows}) => [list('What differs', heads, rows.slice(0, MOST).map(([field, a, b, group]) => group !== 'profile' ? [foreign(field), cell(a), cell(b)]
    : [field.replace('_', ' '), ...[a, b].map((v) => typeof v === 'string' ? time(v) : cell(v))])),
    rows.length > MOST ? para('dim', `The first ${MOST} of ${rows.length}.`) : null];
  const p = panel(context, {
    title: 'Compared',
    async load(ask) {
      const {user, at, b} = look(), as_of = at ?? undefined;
      if (what === 'moments') {
        const [from, until] = (at ?? Infinity) < b ? [at, b] : [b, at];
        const {changes} = await ask.get('/v1/diff', {user: person, a: from, b: until, limit: 1000});
        return {rows: changes.map((c) => [c.field, c.before, c.after, c.group]), heads: ['Field', ...[from, until].map((p) => `${p === b ? 'B' : 'A'}: ${p === null ? 'now' : `position ${p}`}`)]};
      }
      const [arrived, happened] = await Promise.all([ask.get('/v1/profile', {user, as_of}), ask.get('/v1/profile', {user, as_of, order: 'occurred'})]);
      const other = new Map(all(happened).map(([g, f, v]) => [`${g} ${f}`, v])), rows = [];
      for (const [g, f, v] of all(arrived)) {
        const w = other.get(`${g} ${f}`);
        if (JSON.stringify(v) !== JSON.stringify(w)) rows.push([f, v, w, g]);
        other.delete(`${g} ${f}`);
      }
      for (const [name, w] of other) rows.push([name.slice(name.indexOf(' ') + 1), undefined, w, name.slice(0, name.indexOf(' '))]);
      return {rows, heads: ['Field', 'As it arrived', 'As it happened']};
    },
    empty: ({rows}) => rows.length ? null : emptyView(what === 'moments' ? 'Nothing differs between A and B.' : 'As it happened, all would be the same.'),
    show,
  });
  return {
    element: p.element,
    show(next) { what = next; p.setTitle(what === 'moments' ? 'A and B compared' : 'As it arrived, and as it happened'); return p.load(); },
  };
}
