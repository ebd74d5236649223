// People: by the first letters of an ID or an address, or by a condition; and why somebody passes it, or not.
import {button, count, dim, fill, foreign, h, h1, inRow, labelled, number, para, uncut, value} from './dom.js';
import {emptyView, panel} from './panel.js';
import {userKey} from './router.js';
import {list as rowList, table} from './table.js';
import {time} from './time.js';
import {whereField} from './where.js';
import {eventLink, person, plain} from './words.js';

const PAGE = 100;
let place = null;

export const explainPanel = (context, title, empty) => panel(context, {
  title, empty, load: (ask, query) => query && ask.get('/v1/users/explain', query),
  show: ({user, holds, reason, parts}) => [
    h('p', person(user, {params: {at: context.at}}), ' ', h('strong', {class: holds ? 'ok' : 'bad'}, holds ? 'passes' : 'does not pass'), '.'), h('p', uncut(reason)),
    rowList('Parts of the condition', ['Part', 'Holds', 'Value', 'Set by'], parts.map((p) => [
      h('code', {class: 'depth', vars: {'--depth': p.depth}}, p.kind === 'comparison' ? foreign(p.text) : {and: 'all of these', or: 'any of these', not: 'not this'}[p.kind] ?? p.kind), [h('span', {class: p.holds ? 'ok' : 'bad'}, p.holds ? '✓ yes' : '✗ no'), p.decides ? dim(' decides') : null],
      p.field ? value(p.value) : null, p.set ? [eventLink(p.set.position, `event ${number(p.set.position)}`), ' ', time(p.set.at)] : p.reason ? dim(foreign(p.reason)) : null]))],
});

export function mount(root, context) {
  context.title('People');
  const where = whereField(context, {label: 'Condition', value: context.params.where, ask: (text) => context.set({where: text, prefix: null, why: null}, {push: true}), button: 'Find'});
  const [prefixLabel, prefix] = labelled('ID or address begins with', {type: 'search', placeholder: 'ana, email:ana@', on: {input: () => context.set({prefix: prefix.value, where: null, why: null})}});
  const [whyLabel, why] = labelled('Why, or why not', {size: 16}), whyForm = h('form', {class: 'row', hidden: true, on: {submit: () => context.set({why: why.value.trim()}, {push: true})}}, whyLabel, why, h('button', 'Explain'));
  let after, rows = null;
  const asked = () => ({w: context.params.where, p: context.params.where ? undefined : context.params.prefix});
  /** One page: an answer may be short, or empty, although there are more. */
  async function page(ask) {
    const {w, p} = asked(), found = [];
    for (;;) {
      const answer = await ask('/v1/users', {where: w, prefix: p, limit: PAGE, ...(p ? {cursor: after} : {after, as_of: context.as_of})}), {users} = answer;
      const more = answer.more && (users.length || answer.scanned || answer.cursor);
      found.push(...users);
      after = !more ? null : p ? answer.cursor : answer.scanned ?? users.at(-1)?.number;
      if (found.length || !more) return {...answer, users: found};
    }
  }
  function makeTable() {
    const {w, p} = asked(), params = {at: context.params.at};
    rows = table({
      label: 'People', open: (u) => { if (!u.erased) context.go(context.link('users', userKey(u), params)); },
      more: (ask) => after === null ? null : page(ask).then((x) => x.users),
      columns: [{head: 'Person', cell: (u) => u.erased ? dim(`person ${u.number} (erased)`) : [person(u, {params}), u.merged_into ? dim(` merged into person ${u.merged_into}`) : null]},
        p ? {head: 'Found by', cell: (u) => [dim(plain(u.kind)), ' ', uncut(u.matched ?? '')]} : {head: 'Also known as', wide: true, cell: (u) => uncut((u.ids ?? []).filter((id) => id !== u.id).join(', '))},
        {head: 'Events', width: '72px', num: true, cell: (u) => number(u.version ?? 0)}, {head: 'braze_id', width: '208px', wide: true, cell: (u) => h('code', u.braze_id)},
        w && {head: 'Why', width: '64px', cell: (u) => button('Why?', () => context.set({why: userKey(u)}, {push: true}), {class: 'text'})}].filter(Boolean),
    });
    return rows.element;
  }
  const list = panel(context, {
    title: 'People',
    async load(ask) {
      rows?.hold();
      after = undefined;
      const {w} = asked();
      try {
        const [first, counted] = await Promise.all([page(ask.get), w ? ask.get('/v1/users', {where: w, count: true, as_of: context.as_of}) : null]);
        where.fail(null);
        return {...first, count: counted?.count};
      } catch (error) {
        if (where.fail(error)) return {wrong: true, users: []};
        throw error;
      }
    },
    empty({users, wrong, total, note}) {
      const {w, p} = asked();
      whyForm.hidden = !w || Boolean(wrong);
      if (users.length) return null;
      list.setTitle('People');
      return wrong ? para('dim', 'The condition has a mistake; nobody was looked at.')
        : emptyView(w ? `None of ${count(total, 'person', 'people')} passes.` : p ? ['Nobody is known by an ID or an address that begins with “', foreign(p), '”.'] : 'Nobody is here yet.', note ?? null, w || p ? button('Show everybody', () => context.set({where: null, prefix: null})) : null);
    },
    show({users, total, count: n, damaged_count: damaged}, body) {
      const {p} = asked();
      list.setTitle(n !== undefined ? `${number(n)} of ${count(total, 'person', 'people')} ${n === 1 ? 'passes' : 'pass'}` : p ? ['People known by “', foreign(p.slice(0, 40)), '…”'] : count(total, 'person', 'people'));
      fill(body, p && context.at !== null ? para('dim', 'First letters are looked for among the IDs of now.') : null, damaged ? para('bad', `${count(damaged, 'damaged record')} could not be read: these people are missing.`) : null, makeTable());
      rows.set(users);
    },
  });
  const explain = explainPanel(context, 'Why, part by part');
  let shown = null;
  place = {update() {
    const {where: w = '', prefix: p = '', why: y = ''} = context.params, now = JSON.stringify([w, p, context.at]);
    where.value = w;
    for (const [field, v] of [[prefix, p], [why, y]]) if (document.activeElement !== field) field.value = v;
    if (now !== shown) { shown = now; list.load(); }
    explain.element.hidden = !w || !y;
    if (w && y) explain.load({user: y, where: w, as_of: context.as_of});
  }};
  root.append(h1('People'), h('div', {class: 'panel stack'}, inRow(prefixLabel, prefix), where.element, whyForm), explain.element, list.element);
  place.update();
}
export const update = () => place.update();
