// A person: who they are, what is known of them at a moment, why, and every step that led there.
// One moment rules all parts: the handle, the row of the list, the profile and the cause come from the same `at`.
import {get} from './api.js';
import {atMost, button, count, dim, facts, fill, foreign, h, h1, inRow, number, para, ref, say, segments, some, uncut, value} from './dom.js';
import {panel, emptyView, failureView} from './panel.js';
import {moment} from './router.js';
import {table} from './table.js';
import {time, timeText, late} from './time.js';
import {loadLife, emphases, iso} from './life.js';
import {timeline} from './timeline.js';
import {cause} from './cause.js';
import {compare, flatten, isPart} from './compare.js';
import {deviceLink, eventLink, mark} from './words.js';

const PAGE = 40, KEPT = 500;
let page = null;
export function mount(root, context) { page = person(root, context); }
export function update() { page.update(); }

const keyOf = (r) => `${r.group} ${r.field}`;
/** A field as it stands in an address: as blame takes it; `user email` is the user attribute and `email` a custom one. */
const paramOf = (r) => r.group === 'attributes' ? `user ${r.field}` : r.ask;
function fieldOf(param) {
  const [, kind, name] = /^(event:|product:|user )(.*)$/s.exec(param) ?? [], field = name ?? param;
  return {group: {'event:': 'custom_events', 'product:': 'purchases', 'user ': 'attributes'}[kind] ?? 'custom_attributes', field, label: field, ask: kind === 'user ' ? field : param};
}
/** What a profile says, in groups of rows. `by` is the position of the event that set it; what has an `ask` can be asked why. */
function rowsOf(p) {
  const setBy = (group, field) => Object.entries(p.set_by[group]).find(([name]) => isPart(field, name))?.[1];
  const attributes = (title, group) => flatten(p[group]).map(([field, v]) => ({title, group, field, label: field, value: v, ask: field, by: setBy(group, field)}));
  const counted = (title, group, kind) => p[group].map((e) => ({
    title, group, field: e.name ?? e.product, label: e.name ?? e.product, ask: `${kind}:${e.name ?? e.product}`, by: e.position, since: e.last,
    text: [`${number(e.count)} ×`, ...Object.entries(e.revenue ?? {}).map(([currency, sum]) => `${sum} ${currency}`)].join(', ')}));
  const fact = (title, label, v, by, since) => ({title, group: title, field: label, label, value: v, by, since});
  return [
    ...attributes('Attributes', 'attributes'), ...attributes('Custom attributes', 'custom_attributes'),
    ...counted('Events', 'custom_events', 'event'), ...counted('Purchases', 'purchases', 'product'),
    ...Object.entries(p.traits ?? {}).map(([name, v]) => fact('Traits', name, v)), ...p.launches.count ? [fact('App', 'Launches', p.launches.count, p.launches.position, p.launches.last)] : [],
    ...Object.entries(p.total_revenue).map(([currency, sum]) => fact('App', `Revenue, ${currency}`, sum)),
    fact('App', 'Waits on devices', p.pending.total), ...p.pending.queued ? [fact('App', 'Queued by the SDK', p.pending.queued)] : []];
}

function person(root, context) {
  const user = context.id, {signal} = context;
  let life = null, k = 0, profile = null, profileUser = user, chosen = null, isNew = false, restTimer = 0, resting = new AbortController();
  const b = () => moment(context.params.vs), look = () => ({life, k, at: context.at, b: b(), user: profileUser});
  function move(to) {
    const next = Math.max(0, Math.min(to, life.n));
    if (next !== k || context.at !== null) context.set({at: next === life.n ? null : life.position[next - 1] ?? 0});
  }

  // Who

  const heading = h1(uncut(user)), identity = para('dim wrap');
  function showIdentity() {
    const ids = (profile?.ids ?? []).filter((id) => id !== user && !id.startsWith('device:')), {at} = context;
    const parts = [
      ref(context.link('messages', null, {user, at}), 'Messages'), life.devices.length && some(life.devices, 4, (d) => deviceLink(d, at)), ids.length && ['also ', some(ids, 4, (id) => foreign(id))], profile && `version ${number(profile.version)}`, count(life.n, 'step'),
      profile?.first_seen && ['seen ', time(profile.first_seen, {form: 'day'}), ' to ', time(profile.last_seen, {form: 'day'})],
      life.merged && `${life.merged} merged`, life.damaged && h('span', {class: 'bad'}, `${count(life.damaged, 'record')} damaged`)];
    fill(identity, parts.filter(Boolean).map((part, i) => [i ? ' · ' : '', part]));
  }

  // Time

  const line = timeline(context, {move, toRow, nextChange, settle: rest, pin, compare: () => context.set({vs: b() === null ? context.at ?? context.store.position : null})});
  const both = h('div', {hidden: true});
  let plane = null;
  async function showPlane() {
    both.hidden = context.params.axis !== 'both';
    if (both.hidden) return;
    plane ??= import('./plane.js').then((m) => { const made = m.plane(context, {move, openCompare}); both.append(made.element); return made; });
    (await plane).show(look());
  }
  const lifePanel = panel(context, {
    title: 'Timeline',
    load: (ask) => loadLife(user, ask).catch(async (error) => {
      if (error.code !== 'unknown_user') throw error;
      return {unknown: (await import('./search.js')).unknown('users', user)};
    }),
    empty: (l) => l.n ? null : l.unknown ?? emptyView('No steps.', 'Nothing was recorded for this person.'),
    show(next, body) {
      life = next;
      if (!body.contains(line.element)) fill(body, line.element, stepText, both);
      for (const part of parts) part.hidden = false;
      line.set(life);
      update();
    },
  });
  /** To where the chosen field changed (what waited: with its flush). Without a field, to what is emphasized or late. */
  function nextChange(direction) {
    const {field} = chosen ?? {}, isAbout = (i) => life.names[i].some((name) => isPart(field, name));
    const changes = (i) => life.shape[i] === 'flush' ? life.links(i).some(([item]) => isAbout(item)) : isAbout(i) && !/waits|queued|refused|void/.test(life.state(i, life.position[i]));
    for (let next = k + direction; next > 0 && next <= life.n; next += direction) if (field ? changes(next - 1) : isFiltered() ? fits(next - 1) : life.isLate(next - 1)) return move(next);
    say(`Nothing ${direction > 0 ? 'after' : 'before'} this step`);
  }

  async function pin() {
    if (!k) return;
    const {pin: keep} = await import('./pins.js'), i = k - 1, at = life.position[i];
    keep({place: 'users', id: user, params: {at, field: context.params.field}, at, user, sentence: life.says(i, context.at), time: iso(life.recorded[i])});
  }

  // Profile: the newest wins

  const cached = new Map(), rows = new Map(), tbody = h('tbody'), pager = para('row');
  let from = 0, find = '';
  const finder = h('input', {type: 'search', 'aria-label': 'Find a field', placeholder: 'Find a field', on: {input: () => { find = finder.value.toLowerCase(); from = 0; drawProfile(); }}});
  const profileTable = h('table', {class: 'list profile', tabindex: '-1'}, h('caption', {class: 'hide'}, 'Profile'),
    h('thead', h('tr', ['Field', 'Value', 'Since', 'By'].map((t) => h('th', {scope: 'col'}, t)))), tbody);
  /** Whose profile as of what. Before the person's own first step it is that of who was merged into them later. */
  function wanted() {
    if (context.at === null) return {user, key: `now ${life.position[life.n - 1]}`};
    const i = (life.own[k] || k) - 1, own = life.isOwn(i);
    return {user: own ? user : life.user[i].user ?? user, as_of: life.position[i], key: `${life.user[i].user_number} ${life.version[i]}`};
  }
  const mergeNote = h('p'), profilePanel = panel(context, {
    title: 'Profile', actions: [finder], empty: (d) => d ? null : emptyView('Nothing is known before the first step.'),
    async load() {
      // The handle may have moved on: then the newest moment is asked for.
      while (life && k) {
        const {user: who, as_of, key} = wanted();
        if (cached.has(key)) return {who, answer: cached.get(key)};
        const answer = await get('/v1/profile', {user: who, as_of}, {signal});
        if (cached.size > KEPT) cached.clear();
        cached.set(key, answer);
      }
      return null;
    },
    show({who, answer}, body) {
      profileUser = who;
      profile = answer;
      mergeNote.hidden = who === user;
      fill(mergeNote, 'At this step it is ', foreign(who), ', who was merged into ', foreign(user), ' later.');
      if (profileTable.parentNode !== body) fill(body, mergeNote, profileTable, pager);
      drawProfile();
      showIdentity();
      rest();
    },
  });
  let asking = null;
  function wantProfile() {
    asking ??= profilePanel.load().then(() => {
      asking = null;
      profile = profilePanel.data?.answer ?? null;
      if (life) showIdentity();
    });
  }
  const isChosen = (r) => chosen !== null && keyOf(r) === keyOf(chosen);
  function drawProfile() {
    const all = rowsOf(profile).filter((r) => r.label.toLowerCase().includes(find)), kept = new Map(), lines = [], now = life.position[k - 1];
    let title = null;
    for (const r of all.slice(from, from + PAGE)) {
      if (r.title !== title) lines.push(h('tr', {class: 'group'}, h('td', {colspan: '4'}, title = r.title)));
      const i = life.find(r.by), changed = i >= 0 && (r.by === now || life.decidedBy[i] === now), state = JSON.stringify([r.value, r.text, r.by, r.since, changed, isChosen(r)]);
      let row = rows.get(keyOf(r));
      if (row?.state !== state) row = Object.assign(rowFor(r, i, changed), {state});
      kept.set(keyOf(r), row);
      lines.push(row);
    }
    const focused = document.activeElement.closest?.('tr')?.key;
    rows.clear();
    for (const [key, row] of kept) { row.key = key; rows.set(key, row); }
    holder.remove();
    tbody.replaceChildren(...lines);
    placeCause();
    if (focused && !tbody.contains(document.activeElement)) rows.get(focused)?.querySelector('button')?.focus({preventScroll: true});
    finder.hidden = !find && all.length <= 12;
    const turn = (text, to) => button(text, () => { from = to; drawProfile(); }, {disabled: to < 0 || to >= all.length});
    fill(pager, all.length > PAGE ? [turn('Fields before', from - PAGE), turn('More fields', from + PAGE),
      dim(`${from + 1} to ${Math.min(from + PAGE, all.length)} of ${number(all.length)}`)]
      : all.length ? null : dim('No field has this in its name.'));
  }
  function rowFor(r, i, changed) {
    const lateness = life.isLate(i) ? h('span', {class: 'small warn'}, ` ${late(life.occurred[i], life.recorded[i])}`) : null;
    return h('tr', {class: isChosen(r) ? 'chosen' : ''},
      h('th', {scope: 'row'}, r.ask ? button(foreign(r.label), () => choose(r), {class: 'text field', 'aria-expanded': String(isChosen(r)), title: 'Why?'}) : foreign(r.label),
        changed ? h('span', {class: 'small effective'}, ' changed now') : null),
      h('td', r.text ? h('span', {class: 'value'}, r.text) : value(r.value)),
      h('td', i < 0 ? time(r.since, {form: 'clock'}) : [time(iso(life.occurred[i]), {form: 'clock'}), lateness]),
      h('td', {class: 'by'}, i < 0 ? '–' : button([uncut(life.device[i] ?? 'app'), `, step ${i + 1}`], () => move(i + 1), {class: 'text'})));
  }
  function choose(r) {
    if (isChosen(r)) return why.focus();
    chosen = r;
    isNew = true;
    context.set({field: paramOf(r)});
  }
  function close() {
    if (!chosen) return false;
    const key = keyOf(chosen);
    context.set({field: null});
    rows.get(key)?.querySelector('button').focus();
  }
  const fields = () => [...tbody.querySelectorAll('.field')];
  function step(direction) {
    const all = fields(), at = all.indexOf(document.activeElement);
    all[at < 0 ? 0 : at + direction]?.focus();
  }
  function toLetter({key}) {
    const all = fields(), at = all.indexOf(document.activeElement), found = [...all.slice(at + 1), ...all.slice(0, at + 1)].find((f) => f.textContent.toLowerCase().startsWith(key.toLowerCase()));
    found?.focus();
    return Boolean(found);
  }

  // Why: at the right, or under its row on a narrow page

  const side = h('div', {class: 'side'}), hint = para('panel dim', 'Choose a field to learn why it is what it is.');
  const compared = compare(context, {look, user}), why = cause(context, {look, move: (at) => context.set({at}), openCompare});
  const holder = h('tr', h('td', {colspan: '4'})), isNarrow = matchMedia('(max-width: 899px)');
  isNarrow.addEventListener('change', placeCause, {signal});
  function placeCause() {
    const row = chosen && isNarrow.matches ? rows.get(keyOf(chosen)) : null, place = row ? holder.firstChild : side;
    hint.hidden = chosen !== null || isNarrow.matches;
    why.element.hidden = chosen === null;
    if (row) row.after(holder); else holder.remove();
    if (why.element.parentNode !== place) place.prepend(why.element);
  }
  /** What is compared: the moments A and B, or as it happened with as it arrived; null is nothing. */
  let comparing = null, comparedWith;
  function showCompared() {
    if (comparedWith !== (comparedWith = b())) comparing = comparedWith !== null ? 'moments' : comparing === 'moments' ? null : comparing;
    compared.element.hidden = !comparing;
    return comparing && compared.show(comparing);
  }
  async function openCompare(what) {
    comparing = comparing === what ? null : what;
    await showCompared();
    compared.element.scrollIntoView({block: 'nearest'});
  }
  function rest() {
    clearTimeout(restTimer);
    resting.abort();
    resting = new AbortController();
    if (!line.isHeld()) restTimer = setTimeout(async () => {
      if (signal.aborted || !life) return;
      stepPanel.load(life.position[k - 1]);
      showCompared();
      if (!chosen || !k) return why.clear();
      await why.show(chosen, profile === null || rowsOf(profile).some(isChosen));
      if (isNew) why.focus();
      isNew = false;
    }, isNew ? 0 : 140);
  }
  const causeKeys = {Comma: ['value before', why.before], 'Shift+Comma': ['back', why.back], IntlBackslash: ['', why.back], Escape: ['close the cause', close]};
  const letters = Object.fromEntries([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => [`Key${letter}`, [letter === 'A' ? 'a letter: the next field that begins with it' : '', toLetter]]));
  const toFields = {ArrowDown: ['next field', () => step(1)], ...letters};
  context.keys(heading, 'Profile', toFields);
  context.keys(why.element, 'Why', {...causeKeys, KeyW: ['who else?', why.who], KeyH: ['as it happened', () => openCompare('happened')]});
  context.keys(profilePanel.element, 'Profile', {...toFields, ArrowUp: ['field before', () => step(-1)], ...causeKeys});

  // Steps: what the chosen one holds, and the list

  const stepText = para('step');
  const stepPanel = panel(context, {
    title: 'What this step holds', load: async (ask, at) => at ? (await ask.get('/v1/events', {after: at - 1 || undefined, limit: 1}, {signal: resting.signal})).events[0] : null,
    show(e) {
      if (!e) return [];
      const {attributes, user_attributes, attribute, value: single, properties, settings, ...others} = e;
      const said = /^(position|user|user_number|version|kind|name|device|chunk|.*_at)$/;
      const held = [...flatten({...attributes, ...user_attributes, ...attribute && {[attribute]: single}, ...properties, ...settings}), ...flatten(others).filter(([name, v]) => v !== false && v?.length !== 0 && !said.test(name))];
      return [facts(...held.slice(0, 20).map(([name, v]) => [foreign(name), value(v)])), held.length > 20 ? para('dim', `${held.length - 20} more: see the event.`) : null];
    }});
  const ifStep = (f) => (row) => typeof row === 'number' ? f(row) : '', clock = (column) => ifStep((i) => time(iso(life[column][i]), {form: 'clock'}));
  const list = table({label: 'Steps of this person', rowClass: (row) => typeof row !== 'number' || fits(row) ? '' : 'dim', choose: ifStep((i) => { if (i + 1 !== k) move(i + 1); }), columns: [
    {head: 'Step', num: true, width: '56px', cell: ifStep((i) => number(i + 1))},
    {head: 'What', width: 'minmax(0, 3fr)', cell: (row) => typeof row === 'number'
      ? [mark(life.kind[row], life.state(row, context.at)), uncut(life.says(row, context.at))] : h('strong', foreign(row.text))},
    {head: 'Recorded', width: '136px', wide: true, cell: clock('recorded')}, {head: 'Happened', width: '136px', wide: true, cell: clock('occurred')}]});
  const fits = (i) => life.isOf(i, context.params.only) && (!context.params.named || life.names[i].some((name) => name.toLowerCase().includes(context.params.named.toLowerCase())));
  const isFiltered = () => Boolean(context.params.only || context.params.named);
  const only = h('select', {'aria-label': 'Emphasize', on: {change: () => context.set({only: only.value})}}, emphases.map(([key, label]) => h('option', {value: key}, label)));
  const named = h('input', {type: 'search', placeholder: 'Name', 'aria-label': 'Emphasize by name', on: {input: () => context.set({named: named.value})}});
  const matching = h('span', {class: 'dim', role: 'status'});
  const order = segments('Order of the list', [['', 'One by one'], ['launch', 'By launch']], context.params.list ?? '', (key) => context.set({list: key}));
  const listPanel = h('section', {class: 'panel', 'aria-labelledby': 'steps-title'},
    h('header', h('h2', {id: 'steps-title'}, 'Steps'), inRow(matching, only, named, order)), list.element);
  let listed = '', listedAt = 0;
  function showList() {
    const wish = JSON.stringify([context.params.list, context.params.only, context.params.named, life.n]);
    if (wish === listed) return;
    listed = wish;
    const all = Array.from({length: life.n}, (_, i) => i);
    only.value = context.params.only ?? '';
    if (named !== document.activeElement) named.value = context.params.named ?? '';
    matching.textContent = isFiltered() ? `${all.filter(fits).length} of ${number(life.n)} match` : '';
    if (!context.params.list) return list.set(all);
    // A saved item is of the launch that flushed it, anything else of its device's running one.
    const titles = ['Servers, imports, before the first launch', ...life.launches.map((i, n) => `Launch ${n + 1} on ${life.device[i] ?? 'a device'}`), 'Waits for a launch'];
    const groups = titles.map((text) => ({text, rows: []}));
    for (const i of all) groups[life.launchOf(i) || (life.state(i) === 'waits' ? groups.length - 1 : life.launch[i] + 1)].rows.push(i);
    list.set(groups.flatMap((g) => g.rows.length ? [{text: `${g.text} · ${count(g.rows.length, 'step')}`}, ...g.rows] : []));
  }
  function toRow() {
    list.element.focus();
    list.element.scrollIntoView({block: 'nearest'});
  }

  // All parts together

  function update() {
    if (!life) return;
    k = life.count(context.at);
    const {field} = context.params, i = k - 1, of = `${number(k)} of ${number(life.n)}`;
    if (!field) chosen = null; else if (!chosen || paramOf(chosen) !== field) chosen = fieldOf(field);
    placeCause();
    showList();
    line.show({k, at: context.at, b: b() === null ? null : life.count(b()), axis: context.params.axis ?? 'step', dims: isFiltered() ? (j) => !fits(j) : null});
    // What waited before a flush takes effect after it: rows say what was known then.
    const [low, high] = [Math.min(k, listedAt), Math.max(k, listedAt)];
    if (high - low > 50 || life.shape.slice(low, high).some((shape) => /flush|rules/.test(shape))) list.redraw();
    listedAt = k;
    list.select(k ? i : null);
    fill(stepText, k ? [h('strong', `Step ${of}: `), uncut(life.says(i, context.at)), '. Recorded ', time(iso(life.recorded[i]), {form: 'full'}), '. ',
      eventLink(life.position[i], `Event ${life.position[i]}`)] : 'Before the first step.');
    if (context.at !== null) context.past('You look at ', k ? h('strong', time(iso(life.recorded[i]))) : 'the time before the first step', `, step ${of}.`,
      k < life.n ? [' One step later: ', uncut(life.says(k, life.position[k])), '.'] : null);
    wantProfile();
    showPlane().catch((error) => fill(both, failureView(error, null)));
    rest();
  }
  context.on('position', atMost(1000, async () => {
    if (signal.aborted || !life) return;
    // One small question first: most news are about others.
    try {
      const {times} = await get('/v1/history', {user, merged: true, parts: 'times', limit: 1, after: life.position.at(-1)}, {signal, quiet: true});
      if (times.position.length) lifePanel.load();
    } catch (error) {
      // Of an erased person nothing stays; after anything else the next news asks again.
      if (error.status !== 404) return;
      const {events} = await get('/v1/events', {kind: 'userErased', reverse: true, limit: 100}, {signal}).catch(() => ({})), e = events?.find((x) => x.user_number === life.person.number);
      if (!events) return;
      life = profile = null;
      cached.clear();
      fill(root, heading, emptyView(e ? ['This person was erased at ', eventLink(e.position, `position ${number(e.position)}`), e.reason ? [': ', foreign(e.reason)] : null, '.'] : 'This person is not known any more.', 'Nothing of their values is kept.'));
    }
  }));
  context.on('act', rest);
  signal.addEventListener('abort', () => resting.abort());

  const parts = [h('div', {class: 'two'}, profilePanel.element, side), stepPanel.element, listPanel];
  for (const part of [...parts, compared.element]) part.hidden = true;
  side.append(hint, compared.element);
  context.title(user);
  root.append(heading, identity, lifePanel.element, ...parts);
  lifePanel.load();
  // The first time in words takes 40 ms: free while the answer is on its way.
  timeText(iso(0));
  return {update};
}
