// People: everybody, by the first letters of an ID or an address, or by a condition; and why somebody passes it, or not.
import {get, has} from './api.js';
import {count, h, fill, foreign, list as rowList, number, value} from './dom.js';
import {panel, emptyView} from './panel.js';
import {userKey} from './router.js';
import {table} from './table.js';
import {time} from './time.js';
import {whereField} from './where.js';

const PAGE = 100;
let place = null;

/** The panel that explains a condition for one person; load({user, where, segment, as_of}). */
export function explainPanel(context, level = 2) {
  return panel(context, {
    title: 'Why, part by part', level, load: (ask, query) => ask.get('/v1/users/explain', query),
    show: ({user, holds, reason, parts}) => [
      h('p', null, h('a', {href: context.userLink(user, {at: context.params.at})}, foreign(user.id ?? user.braze_id)), ' ', h('strong', {class: holds ? 'ok' : 'bad'}, holds ? 'passes' : 'does not pass'), '.'), h('p', null, foreign(reason, {cut: false})),
      rowList('Parts of the condition', ['Part', 'Holds', 'Value', 'Set by'], parts.map((p) => [
        h('code', {class: 'depth', vars: {'--depth': p.depth}}, p.kind === 'comparison' ? foreign(p.text) : `${p.kind} …`), [h('span', {class: p.holds ? 'ok' : 'bad'}, p.holds ? '✓ yes' : '✗ no'), p.decides ? h('span', {class: 'dim'}, ' decides') : null],
        p.field ? value(p.value) : null, p.set ? [h('a', {href: context.link('events', p.set.position)}, `event ${number(p.set.position)}`), ' ', time(p.set.at)] : p.reason ? h('span', {class: 'dim'}, foreign(p.reason)) : null]))],
  });
}

export function mount(root, context) {
  context.title('Users');
  const where = whereField(context, {label: 'Condition', value: context.params.where, ask: (text) => context.set({where: text, prefix: null, why: null}, {push: true}), button: 'Find'});
  const prefix = h('input', {id: 'prefix', type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: 'ana, or email:ana@'});
  prefix.addEventListener('input', () => context.set({prefix: prefix.value, where: null, why: null}));
  const why = h('input', {id: 'why', autocomplete: 'off', spellcheck: 'false', size: 16});
  const whyForm = h('form', {class: 'row', hidden: true, on: {submit(event) { event.preventDefault(); context.set({why: why.value.trim()}, {push: true}); }}}, h('label', {for: 'why'}, 'Why, or why not'), why, h('button', null, 'Explain'));
  let after, rows, list = null;
  /** One page: an answer may be short, or empty, although there are more. */
  async function page(ask) {
    const {where: w, prefix: p} = context.params, found = [];
    for (;;) {
      const answer = await ask('/v1/users', {where: w, prefix: w ? undefined : p, limit: PAGE, ...(p && !w ? {cursor: after} : {after, as_of: context.at ?? undefined})});
      found.push(...answer.users);
      const more = answer.more && (answer.users.length || answer.scanned || answer.cursor);
      after = p && !w ? answer.cursor : answer.scanned ?? answer.users.at(-1)?.number;
      if (!more) after = null;
      if (found.length || !more) return {users: found, total: answer.total, note: answer.note, damaged: answer.damaged_count};
    }
  }
  const who = (u) => u.erased ? h('span', {class: 'dim'}, `person ${u.number} (erased)`) : [h('a', {href: context.link('users', userKey(u), {at: context.params.at})}, foreign(u.id ?? `braze:${u.braze_id}`, {cut: false})), u.merged_into ? h('span', {class: 'dim'}, ` merged into person ${u.merged_into}`) : null];
  function makeTable() {
    const {where: w, prefix: p} = context.params;
    rows = table({
      label: 'People', key: (u) => u.number, open: (u) => { if (!u.erased) context.go(context.link('users', userKey(u), {at: context.params.at})); },
      more: () => after === null ? null : page((path, query) => get(path, query, {signal: context.signal})).then((x) => x.users),
      columns: [{head: 'Person', cell: who}, p && !w ? {head: 'Found by', cell: (u) => [h('span', {class: 'dim'}, u.kind?.replaceAll('_', ' ')), ' ', foreign(u.matched ?? '', {cut: false})]}
        : {head: 'Also known as', wide: true, cell: (u) => foreign((u.ids ?? []).filter((id) => id !== u.id).join(', '), {cut: false})},
      {head: 'Events', width: '72px', num: true, cell: (u) => number(u.version ?? 0)}, {head: 'braze_id', width: '208px', wide: true, cell: (u) => h('code', null, u.braze_id)},
      w && has('GET /v1/users/explain') && {head: 'Why', width: '64px', cell: (u) => h('button', {type: 'button', class: 'text', on: {click: () => context.set({why: userKey(u)}, {push: true})}}, 'Why?')}].filter(Boolean),
    });
    return rows.element;
  }
  list = panel(context, {
    title: 'People',
    async load(ask) {
      after = undefined;
      const isWhere = Boolean(context.params.where);
      try {
        const [first, counted] = await Promise.all([page(ask.get), isWhere ? ask.get('/v1/users', {where: context.params.where, count: true, as_of: context.at ?? undefined}) : null]);
        where.fail(null);
        return {...first, count: counted?.count};
      } catch (error) {
        if (where.fail(error)) return {wrong: true, users: []};
        throw error;
      }
    },
    empty({users, wrong, total, note}) {
      const {where: w, prefix: p} = context.params;
      whyForm.hidden = !w || Boolean(wrong) || !has('GET /v1/users/explain');
      if (users.length) return null;
      list.setTitle('People');
      return wrong ? h('p', {class: 'dim'}, 'The condition has a mistake; nobody was looked at.')
        : emptyView(w ? [`None of ${count(total, 'person', 'people')} passes.`] : p ? ['Nobody is known by an ID or an address that begins with “', foreign(p), '”.'] : 'Nobody is here yet.', note ?? null, w || p ? h('button', {type: 'button', on: {click: () => context.set({where: null, prefix: null})}}, 'Show everybody') : null);
    },
    show({users, total, count: n, damaged}, body) {
      const {where: w, prefix: p} = context.params;
      list.setTitle(n !== undefined ? `${number(n)} of ${count(total, 'person', 'people')} ${n === 1 ? 'passes' : 'pass'}` : p ? ['People known by “', foreign(p.slice(0, 40)), '…”'] : count(total, 'person', 'people'));
      fill(body, p && !w && context.at !== null ? h('p', {class: 'dim'}, 'First letters are looked for among the IDs of now.') : null, damaged ? h('p', {class: 'bad'}, `${count(damaged, 'damaged record')} could not be read: these people are missing.`) : null, makeTable());
      rows.set(users);
    },
  });
  const explain = explainPanel(context);
  explain.element.hidden = true;
  let shown = null;
  place = {update() {
    const {where: w = '', prefix: p = '', why: y = ''} = context.params;
    where.value = w;
    if (document.activeElement !== prefix) prefix.value = p;
    if (document.activeElement !== why) why.value = y;
    const now = JSON.stringify([w, p, context.at]);
    if (now !== shown) { shown = now; list.load(); }
    explain.element.hidden = !w || !y;
    if (w && y) explain.load({user: y, where: w, as_of: context.at ?? undefined});
  }};
  root.append(h('h1', {tabindex: '-1'}, 'Users'), h('div', {class: 'panel stack'}, h('div', {class: 'row'}, h('label', {for: 'prefix'}, 'ID or address begins with'), prefix), where.element, whyForm), explain.element, list.element);
  context.ready.then(() => { if (!context.signal.aborted) place.update(); });
}
export const update = () => place.update();
