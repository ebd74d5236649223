// What was refused, with the reason; and its repair, in Act.
import {button, count, facts, fill, foreign, h, h1, labelled, para, uncut, value} from './dom.js';
import {emptyView, failureView, panel} from './panel.js';
import {table} from './table.js';
import {time} from './time.js';
import {post} from './wire.js';
import {deviceLink, eventLink, kindWords, mark, person, positionColumn, subject} from './words.js';

let place = null;
const titles = {pending_custom_events: 'event', pending_custom_attributes: 'attributes', pending_user_attributes: 'user attribute', objectsLeftOut: 'part of a request'};
const kinds = {pending_custom_events: 'customEventSaved', pending_custom_attributes: 'customAttributesSaved', pending_user_attributes: 'userAttributeSaved'};
const what = (r) => `${titles[r.kind] ?? kindWords(r.kind)} ${r.input_array ? `${r.input_array}[${r.index}]${r.field ? `.${r.field}` : ''}` : subject(r)}`;
const key = (r) => `${r.position}${r.input_array ? `.${r.input_array}.${r.index}.${r.field ?? ''}` : ''}`;

export function mount(root, context) {
  context.title('Rejected');
  const [userLabel, user] = labelled('Person', {size: 14}), [allLabel, all] = labelled('Repaired ones too', {type: 'checkbox'});
  const apply = () => context.set({user: user.value.trim(), repaired: all.checked ? 1 : null, item: null});
  let after;
  const page = async (ask) => {
    const answer = await ask('/v1/rejected', {user: context.params.user, repaired: context.params.repaired ? true : undefined, after, limit: 100});
    after = answer.more ? answer.last : null;
    return answer;
  };
  const rows = table({
    label: 'Refused items', key, choose: (r) => context.set({item: key(r)}), more: (ask) => after === null ? null : page(ask).then((a) => a.rejected),
    columns: [positionColumn, {head: 'Saved', width: '104px', cell: (r) => time(r.saved_at ?? r.recorded_at, {form: 'clock'})},
      {head: 'What', cell: (r) => [mark(kinds[r.kind] ?? r.kind, 'refused'), uncut(what(r))]}, {head: 'Person', width: '120px', wide: true, cell: (r) => person(r.user, {number: r.user_number})},
      {head: 'Why', cell: (r) => uncut(r.reason)}, {head: 'State', width: '88px', wide: true, cell: (r) => r.repaired_by ? 'repaired' : r.input_array ? 'dropped' : 'open'}],
  });
  const list = panel(context, {
    title: 'Refused', load: (ask) => { rows.hold(); after = undefined; return page(ask.get); },
    empty: (a) => a.rejected.length ? null : emptyView(context.params.user ? ['Nothing of ', foreign(context.params.user), ' is refused.'] : 'Nothing is refused.', 'Here is what a launch or a request would drop, with the reason.'),
    show({rejected, total}, body) {
      list.setTitle(count(total, 'refused item'));
      if (rows.element.parentNode !== body) fill(body, rows.element);
      rows.set(rejected);
      place.choose();
    },
  });
  const done = h('div', {role: 'status'}), detail = h('section', {class: 'panel stack', 'aria-label': 'The chosen item', hidden: true});
  function show(r) {
    const result = h('div', {role: 'status'}), content = r.kind === 'pending_custom_events' ? {name: r.name, properties: r.properties ?? {}} : r.attributes ? {attributes: r.attributes} : {attribute: r.attribute, value: r.value};
    const [label, text] = labelled('Or corrected:', {rows: 6}, 'textarea', JSON.stringify(content, null, 2));
    async function retry(body) {
      try {
        const answer = await post('/v1/pending/retry', {position: r.position, ...body}, {signal: context.signal});
        fill(done, para('ok', 'It is saved again as ', eventLink(answer.position), ', and takes effect with the next launch of ', foreign(answer.device), '.'));
        await list.load();
        rows.element.focus();
      } catch (error) { fill(result, failureView(error)); }
    }
    function corrected() {
      let body;
      try { body = JSON.parse(text.value); } catch (error) { return void fill(result, para('bad', `This is no JSON: ${error.message}`)); }
      retry(body);
    }
    fill(detail, h('h2', foreign(what(r))), h('p', foreign(r.reason)),
      facts(['Person', person(r.user, {number: r.user_number})], ['Position', eventLink(r.position)], r.flush && ['Refused by the flush', eventLink(r.flush)], r.device && ['Device', deviceLink(r.device)], r.repaired_by && ['Repaired by', eventLink(r.repaired_by)]),
      r.input_array ? para('dim', 'It was dropped from a request: its sender must send it again, corrected.') : r.repaired_by ? null
        : context.act ? [button('Save it again as it is', () => retry({})), label, text, button('Save it again, corrected', corrected)]
          : [value(content), para('dim', context.can('v1.write') ? 'Choose Act above to repair it.' : 'This key may not repair it (v1.write).')], result);
  }
  let shown = null;
  place = {
    choose() {
      const {item} = context.params, r = rows.rows.find((x) => key(x) === item);
      detail.hidden = !r;
      if (r) { rows.select(item); show(r); }
    },
    update() {
      const {user: u = '', repaired} = context.params, now = JSON.stringify([u, repaired]);
      if (document.activeElement !== user) user.value = u;
      all.checked = Boolean(repaired);
      if (now !== shown) { shown = now; list.load(); } else place.choose();
    },
  };
  root.append(h1('Rejected'), h('form', {class: 'row', 'aria-label': 'Filter', on: {submit: apply, change: apply}}, userLabel, user, all, allLabel, h('button', 'Filter')), done, detail, list.element);
  place.update();
}
export const update = () => place.update();
