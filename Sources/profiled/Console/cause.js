// Why is this value what it is: one sentence, the values before, what it would be otherwise, and (in Act) void and unvoid.
//   const why = cause(context, {key, look: () => ({life, k, at, user}), move: (k or position), name})
//   why.element; why.show(field) asks; why.clear(); why.before(); why.back()
//   field = {group: 'custom_attributes', field: 'address.city', ask: 'address.city'}; of a counted thing ask is event:NAME or product:ID
//   because(set, life)   the sentence of a `set` of the API as nodes: who said it, when, how it came, how late
import {get, post} from './api.js';
import {h, fill, foreign, value, say, newID, valueText} from './dom.js';
import {panel, failureView} from './panel.js';
import {time, span, between, late} from './time.js';
import {flatten, table} from './compare.js';

const strong = (...nodes) => h('strong', null, nodes);
const sources = {rest: 'a server', import: 'an import', extension: 'the extension', app: 'the app', system: 'the store', cli: 'profilecli'};

export function because(set, life) {
  const who = set.device ? ['the ', foreign(set.device)] : [sources[set.source] ?? foreign(set.source)];
  const seconds = set.late_s ?? between(set.at, set.recorded_at), isLate = Math.abs(seconds) >= 60;
  const effect = set.effect ? life.find(set.effect) : -1, i = life.find(set.position);
  const nodes = [], by = set.process && set.process !== 'app' ? [' by ', foreign(set.process)] : null;
  const effectTime = effect >= 0 ? new Date(life.recorded[effect]).toISOString() : null;
  const then = effectTime && between(set.recorded_at, effectTime) >= 1 ? [', ', strong(span(between(set.recorded_at, effectTime)), ' later')] : null;
  if (set.removed) nodes.push('It was removed. ');
  if (set.how === 'saved') {
    const number = life.decidedWith(i) || (effect >= 0 ? life.launchNumber(effect) : 0);
    nodes.push('It was saved on ', set.device ? foreign(set.device) : 'a device', by, ' on ', time(set.at), isLate ? [' by its clock, recorded ', time(set.recorded_at), ', ', strong(late(set.at, set.recorded_at))] : null,
      set.effect ? [', and took effect ', number ? strong(`with launch ${number}`) : 'with a flush', then] : ', and waits for a launch', '.');
  } else if (set.how === 'queued') {
    nodes.push('It was set on ', set.device ? foreign(set.device) : 'a device', ' on ', time(set.at), set.effect ? ['. The SDK held it, and sent it', then] : '. The SDK holds it', '.');
  } else if (set.source === 'import') {
    nodes.push('An ', strong('import'), ' brought it on ', time(set.recorded_at), '. It says that this happened on ', time(set.at), isLate ? [', ', strong(late(set.at, set.recorded_at))] : null, '.');
  } else if (isLate) {
    nodes.push(...who, ' said so on ', strong(time(set.at)), seconds > 0 ? [' by its clock. It arrived on ', time(set.recorded_at), ', ', strong(late(set.at, set.recorded_at)), '.']
      : [' by its clock, which was ahead: it arrived on ', time(set.recorded_at), ', ', strong(late(set.at, set.recorded_at)), '.']);
  } else nodes.push(...who, set.how ? ' set it on ' : ' gave it with an ID on ', time(set.recorded_at), '.');
  if (set.merge) nodes.push(' It came ', strong('with a merge'), ' from ', foreign(set.of_user ?? `person ${set.of_user_number}`), life.find(set.merge) >= 0 ? ` at step ${life.find(set.merge) + 1}` : '', '.');
  if (set.voided_by) nodes.push(' It is ', strong('void'), life.find(set.voided_by) >= 0 ? ` since step ${life.find(set.voided_by) + 1}` : '', ', and counts no more.');
  const first = nodes.findIndex((n) => typeof n === 'string' && n.trim());
  if (typeof nodes[first] === 'string') nodes[first] = nodes[first].replace(/[a-z]/i, (c) => c.toUpperCase());
  return nodes;
}
export const text = (nodes) => { const box = h('span', null, nodes); for (const t of box.querySelectorAll('time')) t.append(' '); return box.textContent.replace(/\s+/g, ' ').replace(/ ([.,])/g, '$1').trim(); };

export function cause(context, {look, move, openCompare}) {
  let field = null, stack = [], isSaid = '', extra = 0;
  const title = () => field ? ['Why is ', foreign(field.label, {cut: false}), ' what it is?'] : 'Why';
  const p = panel(context, {
    title: 'Why', class: 'cause',
    async load(ask) {
      const {user, at} = look();
      try {
        const answer = await ask.get('/v1/blame', {user, field: field.ask, log: true, reverse: true, limit: 8, as_of: at ?? undefined});
        const found = field.group === 'custom_events' ? answer.custom_events?.find((e) => e.name === field.field) : field.group === 'purchases' ? answer.purchases?.find((e) => e.product === field.field)
          : answer.fields.find((f) => f.field === field.field && f.group === field.group);
        return {found, misses: answer.misses};
      } catch (error) {
        if (error.code !== 'unknown_field' && error.code !== 'unknown_user') throw error;
        return {nothing: error};
      }
    },
    show: (data) => view(data),
  });

  const stepButton = (position, nodes) => {
    const i = look().life.find(position);
    return i < 0 ? nodes : h('button', {type: 'button', class: 'text', title: `To step ${i + 1}`, on: {click: () => go(position)}}, nodes);
  };
  /** Moves the handle and remembers where it was: `<` returns. */
  function go(position) {
    stack.push(look().at);
    move(position);
  }
  function before() {
    const {found} = p.data ?? {}, {life} = look();
    if (!found) return say('There is nothing before');
    const effect = found.set.effect ?? found.set.position;
    if (!found.previous && !previous(found)) return say('This is the first value');
    const i = life.find(effect);
    go(i > 0 ? life.position[i - 1] : effect - 1);
  }
  function back() {
    if (!stack.length) return say('Nowhere to go back to');
    move(stack.pop());
  }
  const shownOf = (x) => 'value' in x ? (x.removed ? 'none' : value(x.value)) : `${x.count} ×`;
  const previous = (found) => found.log.filter((e) => !e.voided_by && e.position !== found.set.position)[0];

  function view({found, nothing, misses}) {
    const {life, at} = look(), turn = ++extra;
    if (nothing || !found) {
      p.setTitle(title());
      return [h('p', null, at === null ? 'It has no value.' : 'It had no value at this moment.'), nothing?.remedy ? h('p', {class: 'dim'}, foreign(nothing.error)) : null,
        stack.length ? h('p', null, h('button', {type: 'button', on: {click: back}}, 'Back (<)')) : null];
    }
    const {set} = found, now = found.removed ? 'none' : 'count' in found ? `${found.count} ×` : valueText(found.value);
    p.setTitle(['Why is ', foreign(field.label, {cut: false}), ' ', foreign(now.length > 60 ? `${now.slice(0, 60)}…` : now), '?']);
    const sentence = h('p', null, because({...set, removed: found.removed}, life));
    const said = `${field.label}: ${text([...sentence.childNodes].map((n) => n.cloneNode(true)))}`;
    if (said !== isSaid) say(isSaid = said);
    const older = found.log.filter((e) => e.position !== set.position || e.voided_by);
    const list = older.length ? [h('p', null, 'count' in found ? 'Counted before:' : 'Before, it was:'), h('ol', {class: 'plain stack values'}, older.map((e) => h('li', {class: e.voided_by ? 'isvoid' : ''},
      stepButton(e.effect ?? e.position, shownOf(e)), ' – ', because(e, life), e.voided_by && context.act ? [' ', h('button', {type: 'button', on: {click: (event) => form(event.target, e, 'unvoid')}}, 'Let it count again…')] : null))),
    found.log_more ? h('p', {class: 'dim'}, `The newest ${found.log.length} of ${found.log_total.toLocaleString('en')}. `) : null] : h('p', {class: 'dim'}, 'There was no value before.');
    const canVoid = /(Saved|Logged|Changed|Queued)$/.test(set.kind);
    const happened = h('button', {type: 'button', on: {click: () => openCompare('happened')}}, 'As it happened');
    const without = h('button', {type: 'button', 'aria-expanded': 'false', on: {click: (event) => showWithout(event.currentTarget, set)}}, 'Without this event');
    const spot = h('div', {class: 'spot stack'});
    const who = h('button', {type: 'button', 'aria-expanded': 'false', on: {click: () => whoElse(who, spot, found)}}, 'Who else?');
    if (canVoid || set.kind) preview(turn, found, happened, canVoid ? without : null);
    const lost = (misses ?? []).filter((m) => !found.log.some((e) => e.position === m.position));
    const missed = lost.length ? [h('p', null, 'Updates that had no effect:'), h('ul', {class: 'plain stack'}, lost.slice(0, 5).map((m) => h('li', null, time(m.at), ' – ', foreign(m.reason), ' ', stepButton(m.position, 'see'))))] : null;
    return [sentence, list, missed, h('div', {class: 'row looks'}, h('button', {type: 'button', disabled: !previous(found) && !found.previous, on: {click: before}}, 'Before this (,)'),
      stack.length ? h('button', {type: 'button', on: {click: back}}, 'Back (<)') : null, happened, canVoid ? without : null, who,
      h('button', {type: 'button', on: {click: () => pinThis(found, said)}}, 'Pin'), h('a', {href: context.link('events', set.position)}, `Event ${set.position}`)),
    context.act && canVoid ? h('div', {class: 'row acts'}, h('button', {type: 'button', class: 'bad', on: {click: (event) => form(event.target, set, 'void')}}, 'Void this event…')) : null, spot];
  }
  const inProfile = (profile) => {
    if (field.group === 'custom_events') return `${profile.custom_events.find((e) => e.name === field.field)?.count ?? 0} ×`;
    if (field.group === 'purchases') return `${profile.purchases.find((e) => e.product === field.field)?.count ?? 0} ×`;
    const leaf = flatten(profile[field.group] ?? {}).find(([name]) => name === field.field);
    return leaf ? valueText(leaf[1]) : 'none';
  };
  const cut = (t) => t.length > 24 ? `${t.slice(0, 24)}…` : t;
  const whatIf = (set) => get('/v1/whatif/profiles', {without: `event:${set.position}`, user: look().user, sample: 1}, {signal: context.signal});
  /** The answers of the buttons, in the buttons. They are looks: nothing is written. */
  async function preview(turn, found, happened, without) {
    const {user, at} = look();
    try {
      const profile = await get('/v1/profile', {user, order: 'occurred', as_of: at ?? undefined}, {signal: context.signal});
      if (turn !== extra) return;
      happened.textContent = `As it happened: ${cut(inProfile(profile))}`;
      if (!without) return;
      const {samples} = await whatIf(found.set);
      if (turn !== extra) return;
      const change = samples[0]?.changes.find((c) => c.group === field.group && (c.field === field.field || field.field.startsWith(c.field)));
      const leaf = change && (c => { const all = flatten({[change.field]: c}); return all.find(([name]) => name === field.field)?.[1]; })(change.after);
      without.textContent = `Without this event${at === null ? '' : ', today'}: ${change ? cut(leaf === undefined ? 'none' : valueText(leaf)) : 'the same'}`;
    } catch { /* the buttons stay without an answer, and ask when pressed */ }
  }
  const changes = (list) => list?.length ? table('What would differ', ['Field', 'Now', 'Otherwise'], list.map((c) => [foreign(c.field), c.before === undefined ? '–' : value(c.before), c.after === undefined ? '–' : value(c.after)]))
    : h('p', null, 'Nothing would differ.');
  async function showWithout(button, set) {
    const spot = button.closest('.body').querySelector('.spot'), open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    if (!open) return fill(spot);
    try {
      const {samples} = await whatIf(set);
      fill(spot, h('h3', null, `Without event ${set.position}, today`), changes(samples[0]?.changes));
    } catch (error) { fill(spot, failureView(error, () => showWithout(button, set), context.signal)); }
  }
  async function whoElse(button, spot, found) {
    const open = button.getAttribute('aria-expanded') !== 'true';
    button.setAttribute('aria-expanded', String(open));
    if (!open) return fill(spot);
    const module = await import('./who.js');
    const {user, at, b} = look(), isCustom = field.group === 'custom_attributes';
    module.whoElse(fill(spot), {context, user, event: found.set, field: field.group.endsWith('attributes') ? `${isCustom ? 'custom.' : ''}${field.field}` : null, at, value: found.value, vs: b});
  }
  async function pinThis(found, sentence) {
    const module = await import('./pins.js');
    const {at} = look();
    module.pin({place: context.place, id: context.id, params: {at: at ?? context.store.position, field: field.ask}, at: found.set.position, user: context.id, sentence, time: found.set.recorded_at, value: found.value, command: `blame ${context.id} ${field.ask}`});
  }

  // Act: the difference first, a reason always

  async function form(button, event, verb) {
    const id = newID('reason'), spot = p.body.querySelector('.spot'), note = h('div');
    const reason = h('input', {id, required: true, maxlength: '1024', autocomplete: 'off'});
    const difference = h('div', {class: 'stack'}, h('p', {class: 'dim'}, verb === 'void' ? 'Looking at what would differ…' : 'The event counts again from now on.'));
    const close = () => { fill(spot); button.focus(); };
    const send = h('button', {class: verb === 'void' ? 'bad' : ''}, verb === 'void' ? 'Void this event' : 'Let it count again');
    fill(spot, h('form', {class: 'stack act', on: {async submit(submitted) {
      submitted.preventDefault();
      if (!reason.value.trim()) return;
      send.disabled = true;
      try {
        const answer = await post(`/v1/${verb}`, {position: event.position, reason: reason.value.trim(), actor: 'console'}, {once: true, signal: context.signal});
        say(`Event ${event.position} ${verb === 'void' ? 'is void' : 'counts again'}. Changed: ${answer.changed.join(', ') || 'nothing'}.`);
        fill(spot);
        p.element.querySelector('h2').focus();
      } catch (error) { send.disabled = false; fill(note, failureView(error, null)); }
    }}}, h('h3', null, `${verb === 'void' ? 'Void' : 'Unvoid'} event ${event.position}`), difference, h('label', {for: id}, 'Reason (it stays in the log)'), reason, h('div', {class: 'row'}, send, h('button', {type: 'button', on: {click: close}}, 'Cancel')), note));
    reason.focus();
    if (verb === 'unvoid') return;
    try {
      const {samples} = await whatIf(event);
      fill(difference, changes(samples[0]?.changes));
    } catch (error) { fill(difference, failureView(error, null)); }
  }

  p.element.tabIndex = -1;
  p.element.querySelector('h2').tabIndex = -1;
  return {
    element: p.element, before, back, text,
    show(next) {
      const isOther = next.ask !== field?.ask || next.group !== field?.group;
      field = next;
      if (isOther) { p.setTitle(title()); stack = []; }
      return p.load();
    },
    focus: () => p.element.querySelector('h2').focus({preventScroll: true}),
    clear() { field = null; fill(p.body); p.setTitle('Why'); },
  };
}
