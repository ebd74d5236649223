// Why is this value what it is: one sentence, the values before, what it would be otherwise, and (in Act) void and unvoid.
//   why.show({group: 'custom_attributes', field: 'address.city', label, ask}, whether the profile has it)   ask: as `field` of /v1/blame
import {get} from './api.js';
import {button, fill, foreign, h, inRow, labelled, number, para, printable, ref, say, uncut, valueText} from './dom.js';
import {panel, failureView} from './panel.js';
import {list} from './table.js';
import {time, span, between, late} from './time.js';
import {iso} from './life.js';
import {post} from './wire.js';
import {cell, flatten, isPart} from './compare.js';

const strong = (...nodes) => h('strong', nodes);
const sources = {rest: 'A server', import: 'An import', extension: 'The extension', app: 'The app', system: 'The store'};
const canBeVoid = /(Saved|Logged|Changed|Queued)$/;

/** Who said it, when, how, and how late: a `set` or an entry of the log of blame, as nodes. */
function because(set, life) {
  const device = set.device ? foreign(set.device) : 'a device', isLate = Math.abs(between(set.at, set.recorded_at)) >= 60, effect = life.find(set.effect);
  const delay = strong(late(set.at, set.recorded_at)), waited = effect < 0 ? 0 : between(set.recorded_at, iso(life.recorded[effect]));
  const then = waited >= 1 ? [', ', strong(span(waited), ' later')] : null;
  const who = set.device ? ['The ', device] : sources[set.source] ?? foreign(set.source), step = (position) => life.find(position) < 0 ? '' : ` at step ${life.find(position) + 1}`;
  const nodes = [set.removed ? 'It was removed. ' : null];
  if (set.how === 'saved') {
    const launch = effect < 0 ? 0 : life.launch[effect] + 1;
    nodes.push('It was saved on ', device, set.process && set.process !== 'app' ? [' by ', foreign(set.process)] : null, ' on ', time(set.at), isLate ? [' by its clock, recorded ', delay] : null,
      set.effect ? [', and took effect with ', launch ? strong(`launch ${launch}`) : 'a flush', then] : set.voided_by ? null : ', and waits for a launch', '.');
  } else if (set.how === 'queued') nodes.push('It was set on ', device, ' on ', time(set.at), set.effect ? ['. The SDK held it and sent it', then] : set.voided_by ? null : '. The SDK holds it', '.');
  else if (set.source === 'import') nodes.push('An ', strong('import'), ' brought it on ', time(set.recorded_at), ' and says that it happened on ', time(set.at), isLate ? [', ', delay] : null, '.');
  else if (isLate) nodes.push(who, ' said so on ', strong(time(set.at)), ' by its clock. It arrived on ', time(set.recorded_at), ', ', delay, '.');
  else nodes.push(who, set.how ? ' set it on ' : ' gave it with an ID on ', time(set.at), '.');
  if (set.merge) nodes.push(' It came ', strong('with a merge'), ' from ', foreign(set.of_user ?? `person ${set.of_user_number}`), step(set.merge), '.');
  if (set.voided_by) nodes.push(' It became ', strong('void'), step(set.voided_by), ' and counts no more.');
  return nodes;
}

export function cause(context, {look, move, openCompare}) {
  let field = null, isKnown = true, said = '', turn = 0;
  const stack = [], {signal} = context;
  const isCounted = () => /custom_events|purchases/.test(field.group), isField = (e) => (e.name ?? e.product) === field.field, spot = h('div', {class: 'spot stack'});
  const p = panel(context, {
    title: 'Why', class: 'cause',
    async load(ask) {
      const {user, at} = look();
      if (!isKnown && at !== null) return {misses: []};
      try {
        const all = await ask.get('/v1/blame', {user, field: field.ask, log: true, reverse: true, limit: 8, as_of: at ?? undefined});
        return {misses: all.misses ?? [], found: isCounted() ? all[field.group]?.find(isField) : all.fields.find((f) => f.field === field.field && f.group === field.group)};
      } catch (error) {
        if (error.code !== 'unknown_field' && error.code !== 'unknown_user') throw error;
        return {misses: [], nothing: error};
      }
    },
    show,
  });
  const heading = p.element.querySelector('h2');
  heading.tabIndex = -1;

  function go(position) {
    stack.push(look().at);
    move(position);
  }
  /** To the moment before this value took effect: the value before, or the one to which a void gave way. */
  function before() {
    const {found} = p.data ?? {};
    if (!found || !older(found)) return say('This is its first value');
    go((found.set.effect ?? found.set.position) - 1);
  }
  const back = () => { if (stack.length) move(stack.pop()); else say('Nowhere to go back to'); };
  const older = (found) => found.previous ?? found.log.find((e) => !e.voided_by && e.position !== found.set.position);
  const shown = (v) => 'count' in v ? `${v.count} ×` : v.removed || v.value === undefined ? 'none' : valueText(v.value);
  const cut = (text, most = 24) => printable(text.length > most ? `${text.slice(0, most)}…` : text);
  const toStep = (position, nodes) => look().life.find(position) < 0 ? nodes : button(nodes, () => go(position), {class: 'text'});

  function show({found, misses, nothing}) {
    const {life, at} = look(), mine = ++turn, returning = stack.length ? button('Back (<)', back) : null;
    fill(spot);
    p.setTitle(['Why is ', uncut(field.label), ' ', found ? h('bdi', cut(shown(found), 60)) : 'without a value', '?']);
    if (!found) return [h('p', at === null ? 'It has no value.' : 'It had no value at this moment.'), nothing ? para('dim', foreign(nothing.error)) : null, returning];
    const {set} = found, sentence = h('p', because({...set, removed: found.removed}, life));
    const others = found.log.filter((e) => e.position !== set.position), lost = misses.filter((m) => !found.log.some((e) => e.position === m.position));
    if (said !== (said = `${heading.textContent} ${sentence.textContent}`)) say(said);
    const happened = button('As it happened', () => openCompare('happened')), without = button('Without this event', () => toggle(without, set, fillWithout), {'aria-expanded': 'false'});
    const who = button('Who else?', () => toggle(who, found, fillWho), {class: 'who', 'aria-expanded': 'false'});
    preview(mine, set, happened, without);
    return [sentence,
      others.length ? [h('p', isCounted() ? 'Counted before:' : 'Before, it was:'), h('ul', {class: 'plain stack values'}, others.map((e) => h('li',
        toStep(e.effect ?? e.position, h(e.voided_by ? 's' : 'span', foreign(shown(e)))), ' – ', because(e, life),
        e.voided_by && context.act ? [' ', button('Let it count again…', (click) => form(click.target, e, 'unvoid'))] : null)))] : para('dim', 'There was no value before.'),
      found.log_more ? para('dim', `The newest ${found.log.length} of ${number(found.log_total)}.`) : null,
      lost.length ? [h('p', 'Had no effect:'),
        h('ul', {class: 'plain stack values'}, lost.slice(0, 5).map((m) => h('li', toStep(m.position, time(m.at)), ' – ', foreign(m.reason))))] : null,
      inRow(button('Before this (,)', before, {disabled: !older(found)}), returning, happened,
        canBeVoid.test(set.kind) ? without : null, who, button('Pin', () => pinThis(found)), ref(context.link('events', set.position), `Event ${set.position}`)),
      context.act && canBeVoid.test(set.kind) ? h('div', {class: 'row acts'}, button('Void this event…', (click) => form(click.target, set, 'void'), {class: 'bad'})) : null, spot];
  }


  const whatIf = async (position) => (await get('/v1/whatif/profiles', {without: `event:${position}`, user: look().user, sample: 1}, {signal})).samples[0]?.changes ?? [];
  const leaf = (values) => flatten(values ?? {}).find(([name]) => name === field.field)?.[1];
  async function preview(mine, set, happened, without) {
    const {user, at} = look();
    try {
      const profile = await get('/v1/profile', {user, order: 'occurred', as_of: at ?? undefined}, {signal});
      if (mine !== turn) return;
      happened.textContent = `As it happened: ${cut(shown(isCounted() ? {count: profile[field.group].find(isField)?.count ?? 0} : {value: leaf(profile[field.group])}))}`;
      if (!canBeVoid.test(set.kind)) return;
      const change = (await whatIf(set.position)).find((c) => c.group === field.group && isPart(field.field, c.field));
      const after = change && (isCounted() ? {count: change.after ?? 0} : {value: change.after === undefined ? undefined : leaf({[change.field]: change.after}) ?? change.after});
      if (mine === turn) without.textContent = `Without this event${at === null ? '' : ', today'}: ${after ? cut(shown(after)) : 'the same'}`;
    } catch { /* They ask again when pressed, and then say what is wrong. */ }
  }
  const changes = (all) => all.length ? list('What would differ', ['Field', 'Now', 'Otherwise'], all.map((c) => [foreign(c.field), cell(c.before), cell(c.after)])) : h('p', 'Nothing would differ.');
  async function toggle(opener, about, fillIt) {
    const isOpen = opener.getAttribute('aria-expanded') === 'true';
    for (const other of p.body.querySelectorAll('[aria-expanded]')) other.ariaExpanded = other === opener && !isOpen;
    fill(spot);
    try { if (!isOpen) await fillIt(about); } catch (error) { fill(spot, failureView(error, null, signal)); }
  }
  async function fillWithout(set) { fill(spot, h('h3', `Without event ${set.position}, today`), changes(await whatIf(set.position))); }
  async function fillWho({set, value: v}) {
    const {whoElse} = await import('./who.js'), {at, b} = look();
    whoElse(spot, {context, event: set, field: isCounted() ? null : `${field.group === 'attributes' ? '' : 'custom.'}${field.field}`, at, value: v, vs: b});
  }
  async function pinThis(found) {
    const {pin} = await import('./pins.js'), at = look().at ?? context.store.position;
    pin({place: 'users', id: context.id, params: {at, field: context.params.field}, at: found.set.position, user: context.id,
      sentence: `${field.label}: ${p.body.querySelector('p').textContent}`, time: found.set.recorded_at, value: found.value});
  }

  // Act: the difference first, a reason always

  async function form(opener, {position}, verb) {
    const note = h('div'), [label, reason] = labelled('Reason (it stays in the log)', {required: true, maxlength: '1024'});
    const difference = h('div', verb === 'void' ? 'Looking at what would differ…' : 'It counts again from now on.');
    const send = h('button', {class: verb === 'void' ? 'bad' : ''}, verb === 'void' ? 'Void this event' : 'Let it count again');
    fill(spot, h('form', {class: 'stack', on: {async submit() {
      if (!context.act) return;
      send.disabled = true;
      try {
        const {changed} = await post(`/v1/${verb}`, {position, reason: reason.value, actor: 'console'}, {once: true, signal});
        say(`Event ${position} ${verb === 'void' ? 'is void' : 'counts again'}. Changed: ${changed.join(', ') || 'nothing'}.`);
        fill(spot);
        heading.focus();
      } catch (error) { send.disabled = false; fill(note, failureView(error, null)); }
    }}}, h('h3', `${verb === 'void' ? 'Void' : 'Unvoid'} event ${position}`), difference, label, reason,
      inRow(send, button('Cancel', () => { fill(spot); opener.focus(); })), note));
    reason.focus();
    try { if (verb === 'void') fill(difference, changes(await whatIf(position))); } catch (error) { fill(difference, failureView(error, null)); }
  }

  return {
    element: p.element, before, back, who: () => p.body.querySelector('.who')?.click(), focus: () => heading.focus({preventScroll: true}),
    show(next, inProfile) {
      const isSame = next.ask === field?.ask && next.group === field.group;
      if (!isSame) stack.length = 0;
      field = next;
      isKnown = inProfile;
      // Somebody is about to void: what they read stays.
      return isSame && context.act && spot.querySelector('form') ? null : p.load();
    },
    clear() { field = null; fill(spot); p.data = null; fill(p.body); },
  };
}
