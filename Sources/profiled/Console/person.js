// A person: who they are, what is known of them at a moment, why, and every step that led there.
// One moment rules all parts: the handle, the row of the list, the profile and the cause come from the same `at`.
import {get, isAbort} from './api.js';
import {h, fill, foreign, value, count, segments, say} from './dom.js';
import {panel, emptyView, failureView} from './panel.js';
import {table} from './table.js';
import {time, late} from './time.js';
import {loadLife, families, iso} from './life.js';
import {timeline} from './timeline.js';
import {symbol} from './marks.js';
import {cause} from './cause.js';
import {compare, flatten} from './compare.js';

const PAGE = 40;
let page = null;
export function mount(root, context) { page = person(root, context); return page.start(); }
export function update(context) { page.update(); }

/** What a profile says, in groups of rows: {group, field, label, value, by (a position), since, ask}. */
function groupsOf(p) {
  const attributes = (group) => flatten(p[group]).map(([field, v]) => ({group, field, label: field, value: v, by: p.set_by[group][Object.keys(p.set_by[group]).find((root) => field === root || (field.startsWith(root) && /^[.[]/.test(field.slice(root.length))))], ask: field}));
  const counted = (list, group, name, kind) => list.map((e) => ({group, field: e[name], label: e[name], times: e.count, by: e.position, since: e.last, ask: `${kind}:${e[name]}`, money: e.revenue}));
  const fact = (label, v, by, since) => ({group: 'profile', field: label, label, value: v, by, since});
  return [
    ['Attributes', attributes('attributes')], ['Custom attributes', attributes('custom_attributes')],
    ['Events', counted(p.custom_events, 'custom_events', 'name', 'event')], ['Purchases', counted(p.purchases, 'purchases', 'product', 'product')],
    ['Traits', Object.entries(p.traits ?? {}).map(([label, v]) => fact(label, v))],
    ['App', [p.launches.count ? fact('Launches', p.launches.count, p.launches.position, p.launches.last) : null,
      ...Object.entries(p.total_revenue ?? {}).map(([currency, sum]) => fact(`Revenue, ${currency}`, sum)), fact('Waits on devices', p.pending.total), p.pending.queued ? fact('Queued by the SDK', p.pending.queued) : null].filter(Boolean)],
  ].filter(([, rows]) => rows.length);
}

function person(root, context) {
  const user = context.id, {signal} = context;
  let life = null, k = 0, profile = null, profileUser = user, named = null, from = 0, find = '', cached = new Map(), isAsking = false, wanted = null, asked = 0, restTimer = 0, resting = new AbortController();
  const b = () => /^\d{1,16}$/.test(context.params.vs ?? '') ? Number(context.params.vs) : null;
  const look = () => ({life, k, at: context.at, b: b(), user: profileUser, name: user});
  const move = (next) => {
    next = Math.max(0, Math.min(next, life.n));
    if (next !== k || context.at !== null) context.set({at: next === life.n ? null : life.at(next)});
  };
  const moveTo = (at) => context.set({at});

  // Who

  const heading = h('h1', {tabindex: '-1'}, foreign(user, {cut: false})), identity = h('p', {class: 'dim identity'});
  function showIdentity() {
    const ids = profile?.ids ?? [], many = ids.filter((id) => id !== user && !life.devices.includes(id.replace(/^device:/, '')));
    const first = profile?.first_seen, last = profile?.last_seen, parts = [
      many.length ? ['also ', many.slice(0, 4).map((id, i) => [i ? ', ' : '', foreign(id)]), many.length > 4 ? ` and ${many.length - 4} more` : ''] : null,
      profile ? `version ${profile.version.toLocaleString('en')}` : null, count(life.n, 'step'), first ? ['seen ', time(first, {form: 'day'}), ' to ', time(last, {form: 'day'})] : null,
      life.merged ? `${life.merged.toLocaleString('en')} merged` : null, life.devices.length ? [life.devices.slice(0, 4).map((d, i) => [i ? ', ' : '', h('a', {href: context.link('devices', d, {at: context.at})}, foreign(d))]), life.devices.length > 4 ? ` and ${life.devices.length - 4} more devices` : ''] : null].filter(Boolean);
    fill(identity, parts.map((part, i) => [i ? ' · ' : '', part]));
  }

  // Time

  const line = timeline(context, {move, toRow, nextChange, settle: () => rest(),
    choose: (axis) => context.set({axis: axis === 'step' ? null : axis}), compare: () => context.set({vs: b() === null ? context.at ?? context.store.position : null})});
  const plane = h('div', {hidden: true});
  const lifePanel = panel(context, {
    title: 'Timeline', load: (ask) => loadLife(user, ask),
    empty: (l) => l.n ? null : emptyView('No steps.', 'Nothing was recorded for this person.'),
    show(next, body) {
      life = next;
      if (line.element.parentNode !== body) fill(body, line.element, plane);
      line.set(life);
      for (const part of rest_) part.hidden = false;
      rebuildList();
      update();
    },
  });
  let planeParts = null;
  async function showPlane(axis) {
    plane.hidden = axis !== 'both';
    if (plane.hidden) return;
    if (!planeParts) {
      planeParts = import('./plane.js').then((m) => m.plane(context, {move, openCompare}));
      fill(plane, (await planeParts).element);
    }
    (await planeParts).show(look());
  }
  /** Steps at which the chosen field changed: an item that waited changes it with its flush. */
  function nextChange(direction) {
    const field = chosen?.field ?? context.params.field?.replace(/^(event|product|user)[: ]/, ''), only = context.params.only;
    const changes = (i) => {
      if (!field) return context.params.axis === 'both' ? life.isLate(i) : !only || life.isOf(i, only);
      return life.names[i].some((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`)) || (life.kind[i] === 'pendingFlushed' && life.links(i).some(([item]) => changes(item)));
    };
    for (let next = k + direction; next >= 1 && next <= life.n; next += direction) {
      const i = next - 1;
      if (changes(i) && !(field && /^(waits|queued|refused|void)$/.test(life.state(i, life.at(next))))) return move(next);
    }
    say(direction > 0 ? 'No change after this step' : 'No change before this step');
  }

  // Profile: newest wins, one request at a time, answers kept by version

  const body = h('tbody'), bodies = new Map(), note = h('div');
  const finder = h('input', {type: 'search', 'aria-label': 'Find a field', placeholder: 'Find a field', on: {input: () => { find = finder.value.toLowerCase(); from = 0; drawProfile(); }}});
  const pager = h('p', {class: 'row'}), profileTable = h('table', {class: 'list profile', tabindex: '-1'}, h('caption', {class: 'hide'}, 'Profile'),
    h('thead', null, h('tr', null, ['Field', 'Value', 'Since', 'By'].map((t) => h('th', {scope: 'col'}, t)))), body);
  const profilePanel = h('section', {class: 'panel', 'aria-labelledby': 'profile-title', 'data-state': 'empty'}, h('header', null, h('h2', {id: 'profile-title'}, 'Profile'), finder), note, h('div', {class: 'body stack'}, profileTable, pager));
  /** Whose profile, and as of what: before a merge that brought the ID, that of the person of this step. */
  function asked_() {
    const own = life.own[k];
    if (context.at === null) return {user, as_of: undefined, key: null};
    const i = (own || k) - 1, who = life.user[i];
    return own ? {user, as_of: life.position[i], key: `${who.user_number} ${life.version[i]}`} : {user: who.user ?? user, as_of: life.position[i], key: `${who.user_number} ${life.version[i]}`};
  }
  function wantProfile() {
    if (!k) { profile = null; wanted = null; profilePanel.dataset.state = 'empty'; fill(note, emptyView('Nothing is known before the first step.')); fill(body); bodies.clear(); profileTable.hidden = true; showIdentity(); return; }
    wanted = asked_();
    const kept = wanted.key && cached.get(wanted.key);
    if (kept) { wanted = null; return showProfile(kept); }
    ask();
  }
  async function ask() {
    if (isAsking || !wanted) return;
    isAsking = true;
    const {user: who, as_of, key} = wanted, mine = ++asked;
    wanted = null;
    const slow = setTimeout(() => { profilePanel.dataset.state = 'loading'; if (!profile) fill(note, h('p', {class: 'dim'}, 'Loading…')); }, 150);
    try {
      const answer = await get('/v1/profile', {user: who, as_of}, {signal});
      if (key) { if (cached.size > 500) cached.clear(); cached.set(key, answer); }
      // While the handle moves each answer is shown, if it is the newest so far.
      if (mine === asked && key === (k ? asked_().key : '')) showProfile(answer);
    } catch (error) {
      if (isAbort(error)) return;
      profilePanel.dataset.state = error.code === 'no_connection' && profile ? 'stale' : 'failed';
      if (profilePanel.dataset.state === 'failed') { profile = null; fill(body); bodies.clear(); profileTable.hidden = true; }
      fill(note, profile ? h('p', {class: 'warn'}, 'No answer; this is what it said before.') : failureView(error, wantProfile, signal));
    } finally { clearTimeout(slow); isAsking = false; if (!signal.aborted) ask(); }
  }
  function showProfile(answer) {
    profile = answer;
    profileUser = life.own[k] || context.at === null ? user : asked_().user;
    profilePanel.dataset.state = 'shown';
    profileTable.hidden = false;
    fill(note, profileUser === user ? null : h('p', null, 'At this step it is ', foreign(profileUser), ', who was merged into ', foreign(user), ' later.'));
    drawProfile();
    showIdentity();
    rest();
  }
  let chosen = null, rowOf = new Map(), openRow = null;
  const keyOf = (r) => `${r.group} ${r.field}`;
  function drawProfile() {
    if (!profile) return;
    const groups = groupsOf(profile), all = groups.flatMap(([title, rows]) => rows.filter((r) => !find || r.label.toLowerCase().includes(find)).map((r) => ({title, ...r})));
    if (context.params.field && !chosen) { chosen = all.find(isChosen) ?? guess(context.params.field); from = Math.floor(Math.max(0, all.findIndex(isChosen)) / PAGE) * PAGE; }
    const shown = all.slice(from, from + PAGE), kept = new Map(), lines = [];
    let title = null, known = k ? life.position[k - 1] : null;
    for (const r of shown) {
      if (r.title !== title) lines.push(kept.set(`# ${title = r.title}`, bodies.get(`# ${title}`) ?? h('tr', {class: 'group'}, h('td', {colspan: '4'}, title))).get(`# ${title}`));
      const i = r.by ? life.find(r.by) : -1, isNew = r.by && (r.by === known || (i >= 0 && life.decidedBy[i] === known));
      const state = `${JSON.stringify([r.value, r.times, r.by, r.since, r.money])} ${isChosen(r)} ${isNew}`;
      let row = bodies.get(keyOf(r));
      if (row?.state !== state) {
        const next = line_(r, i, isNew);
        next.state = state;
        if (row?.contains(document.activeElement)) { row.replaceWith(next); next.querySelector('button')?.focus({preventScroll: true}); }
        row = next;
      }
      kept.set(keyOf(r), row);
      lines.push(row);
      if (isChosen(r) && openRow?.holder) lines.push(openRow.holder);
    }
    bodies.clear();
    for (const entry of kept) bodies.set(...entry);
    if (lines.length !== body.children.length || lines.some((l, i) => body.children[i] !== l)) {
      const focus = document.activeElement;
      body.replaceChildren(...lines);
      if (body.contains(focus)) focus.focus({preventScroll: true});
    }
    rowOf = new Map(all.map((r) => [keyOf(r), r]));
    finder.hidden = !find && all.length <= 12;
    fill(pager, all.length > PAGE ? [h('button', {type: 'button', disabled: from === 0, on: {click: () => { from -= PAGE; drawProfile(); }}}, 'Fields before'), h('button', {type: 'button', disabled: from + PAGE >= all.length, on: {click: () => { from += PAGE; drawProfile(); }}}, 'More fields'),
      h('span', {class: 'dim'}, `${from + 1} to ${from + shown.length} of ${all.length.toLocaleString('en')}`)] : all.length ? null : h('span', {class: 'dim'}, find ? 'No field has this in its name.' : 'Nothing is known yet.'));
    if (chosen && isNarrow.matches) placeCause();
  }
  const isChosen = (r) => chosen ? keyOf(r) === keyOf(chosen) : r.ask !== undefined && paramOf(r) === context.params.field;
  const paramOf = (r) => r.group === 'attributes' ? `user ${r.ask}` : r.ask;
  function guess(param) {
    const [, kind, name] = /^(event:|product:|user )(.*)$/s.exec(param) ?? [];
    const group = {'event:': 'custom_events', 'product:': 'purchases', 'user ': 'attributes'}[kind] ?? 'custom_attributes', field = name ?? param;
    return {group, field, label: field, ask: kind === 'user ' ? field : param};
  }
  function line_(r, i, isNew) {
    const shownValue = r.times !== undefined ? h('span', {class: 'value'}, `${r.times.toLocaleString('en')} ×`, r.money ? Object.entries(r.money).map(([c, sum]) => `, ${sum} ${c}`) : null) : value(r.value);
    const name = r.ask ? h('button', {type: 'button', class: 'text field', 'aria-expanded': String(isChosen(r)), title: 'Why?', on: {click: () => choose(r)}}, foreign(r.label)) : foreign(r.label);
    const lateness = i >= 0 && life.isLate(i) ? h('span', {class: 'small warn'}, ` ${late(life.occurred[i], life.recorded[i])}`) : null;
    const where = i >= 0 ? life.device[i] ?? 'app' : null;
    const tr = h('tr', {class: `${isChosen(r) ? 'chosen' : ''} ${isNew ? 'new' : ''}`}, h('th', {scope: 'row'}, name, isNew ? h('span', {class: 'small effective'}, ' changed now') : null), h('td', null, shownValue),
      h('td', {class: 'since'}, i >= 0 ? [time(iso(life.occurred[i]), {form: 'clock'}), lateness] : r.since ? time(r.since, {form: 'clock'}) : '–'),
      h('td', {class: 'by'}, i >= 0 ? h('button', {type: 'button', class: 'text', on: {click: () => move(i + 1)}}, foreign(where, {cut: false}), `, step ${i + 1}`) : r.by ? `position ${r.by}` : '–'));
    return tr;
  }
  function choose(r) {
    const isSame = chosen && keyOf(chosen) === keyOf(r);
    if (isSame) return why.focus();
    chosen = r;
    context.set({field: paramOf(r)});
    rest.now = true;
    rest();
  }
  context.keys(profilePanel, 'Profile', {
    ArrowDown: ['next field', () => step(1)], ArrowUp: ['field before', () => step(-1)], Comma: ['value before', () => why.before()], 'Shift+Comma': ['back', () => why.back()], IntlBackslash: ['', () => why.back()],
    Escape: ['close the cause', () => chosen ? close() : false],
  });
  function step(direction) {
    const buttons = [...body.querySelectorAll('button.field')], at = buttons.indexOf(document.activeElement);
    buttons[at < 0 ? 0 : Math.max(0, Math.min(at + direction, buttons.length - 1))]?.focus();
  }
  function close() {
    const button = bodies.get(keyOf(chosen))?.querySelector('button.field');
    chosen = null;
    why.clear();
    placeCause();
    context.set({field: null});
    (button?.isConnected ? button : body.querySelector('button.field'))?.focus();
  }

  // Why, at the right, or under its row on a narrow page

  const compared = compare(context, {look}), openCompare = (what) => { side.append(compared.element); compared.element.hidden = false; compared.show(what).then(compared.focus); };
  const why = cause(context, {look, move: moveTo, openCompare}), side = h('div', {class: 'side'});
  context.keys(why.element, 'Why', {Comma: ['value before', why.before], 'Shift+Comma': ['back', why.back], IntlBackslash: ['', why.back], Escape: ['close', () => chosen ? close() : false]});
  const hint = h('section', {class: 'panel', 'aria-label': 'Why'}, h('p', {class: 'dim'}, 'Choose a field to learn why it is what it is.'));
  const isNarrow = matchMedia('(max-width: 899px)');
  isNarrow.addEventListener('change', () => { placeCause(); drawProfile(); }, {signal});
  function placeCause() {
    hint.hidden = Boolean(chosen) || isNarrow.matches;
    why.element.hidden = !chosen;
    if (!chosen || !isNarrow.matches) {
      openRow?.holder.remove();
      openRow = null;
      if (why.element.parentNode !== side) side.prepend(why.element);
      return;
    }
    const row = bodies.get(keyOf(chosen));
    if (!row) { if (why.element.parentNode !== side) side.prepend(why.element); return; }
    openRow ??= {holder: h('tr', {class: 'open'}, h('td', {colspan: '4'}))};
    if (why.element.parentNode !== openRow.holder.firstChild) openRow.holder.firstChild.append(why.element);
    if (row.nextSibling !== openRow.holder) row.after(openRow.holder);
  }
  /** What costs more is asked when the handle rests. */
  function rest() {
    clearTimeout(restTimer);
    resting.abort();
    resting = new AbortController();
    if (line.isHeld()) return;
    const later = async () => {
      if (signal.aborted || !life) return;
      placeCause();
      if (chosen && k) {
        const isNew = rest.now;
        rest.now = false;
        await why.show(chosen);
        if (isNew) why.focus();
      } else if (chosen) why.clear();
      if (b() !== null) { side.append(compared.element); compared.element.hidden = false; compared.show('moments'); } else if (compared.moments) compared.element.hidden = true;
      compared.moments = b() !== null;
      showStep();
    };
    if (rest.now) later(); else restTimer = setTimeout(later, 140);
  }

  // Steps: what the chosen one holds, and the list

  const stepText = h('p'), stepBody = h('div');
  const stepPanel = h('section', {class: 'panel', 'aria-label': 'This step'}, stepText, stepBody);
  function sayStep() {
    if (!k) return fill(stepText, 'Before the first step.');
    const i = k - 1;
    fill(stepText, h('strong', null, `Step ${k.toLocaleString('en')} of ${life.n.toLocaleString('en')}: `), foreign(life.says(i, context.at)), '. Recorded ', time(iso(life.recorded[i]), {form: 'full'}), '. ',
      h('a', {href: context.link('events', life.position[i])}, `Event ${life.position[i]}`));
  }
  async function showStep() {
    if (!k) return fill(stepBody);
    const at = life.position[k - 1];
    try {
      const {events: [event]} = await get('/v1/events', {after: at - 1 || undefined, limit: 1}, {signal: resting.signal});
      if (at !== (k && life.position[k - 1])) return;
      const held = event.attributes ?? event.user_attributes ?? (event.attribute ? {[event.attribute]: event.value} : event.product ? {price: event.price, currency: event.currency, quantity: event.quantity, ...event.properties} : event.properties ?? event.settings ?? {});
      const rows = [...flatten(held), ...(event.reason ? [['reason', event.reason]] : []), ...(event.rejected ?? []).map((r) => [`refused, event ${r.position}`, r.reason])];
      fill(stepBody, rows.length ? h('dl', {class: 'facts'}, rows.slice(0, 20).map(([name, v]) => [h('dt', null, foreign(name)), h('dd', null, value(v))])) : null, rows.length > 20 ? h('p', {class: 'dim'}, `${rows.length - 20} more: see the event.`) : null);
    } catch (error) { if (!isAbort(error)) fill(stepBody, failureView(error, showStep, signal)); }
  }
  const list = table({label: 'Steps of this person', key: (row) => row, rowClass: (row) => typeof row !== 'number' ? 'head-row' : fits(row) ? '' : 'dim', choose: (row) => { if (typeof row === 'number' && row + 1 !== k) move(row + 1); }, columns: [
    {head: 'Step', num: true, width: '56px', cell: (row) => typeof row === 'number' ? (row + 1).toLocaleString('en') : ''},
    {head: 'What', width: 'minmax(0, 3fr)', cell: (row) => typeof row === 'number' ? [h('span', {class: 'mark', 'data-mark': symbol(life.shape[row])}), foreign(life.says(row, context.at))] : h('strong', null, foreign(row.text))},
    {head: 'Recorded', width: '136px', wide: true, cell: (row) => typeof row === 'number' ? time(iso(life.recorded[row]), {form: 'clock'}) : ''},
    {head: 'Happened', width: '136px', wide: true, cell: (row) => typeof row === 'number' ? time(iso(life.occurred[row]), {form: 'clock'}) : ''}]});
  const fits = (i) => life.isOf(i, context.params.only) && (!context.params.named || life.names[i].some((name) => name.toLowerCase().includes(context.params.named.toLowerCase())));
  const isFiltered = () => Boolean(context.params.only || context.params.named);
  const only = h('select', {'aria-label': 'Emphasize', on: {change: () => context.set({only: only.value})}}, h('option', {value: ''}, 'All alike'), Object.entries(families).map(([key, label]) => h('option', {value: key}, label)));
  const named_ = h('input', {type: 'search', placeholder: 'Name', 'aria-label': 'Emphasize by name', on: {input: () => context.set({named: named_.value})}});
  const grouped = segments('Order of the list', [['', 'One by one'], ['launch', 'By launch']], context.params.list ?? '', (v) => context.set({list: v}));
  const matching = h('span', {class: 'dim', role: 'status'});
  const listPanel = h('section', {class: 'panel', 'aria-labelledby': 'steps-title'}, h('header', null, h('h2', {id: 'steps-title'}, 'Steps'), h('div', {class: 'row'}, matching, only, named_, grouped)), h('div', {class: 'body'}, list.element));
  let built = '';
  function rebuildList() {
    if (!life) return;
    const wish = `${context.params.list} ${context.params.only} ${context.params.named} ${life.n}`;
    if (wish === built) return false;
    built = wish;
    [...grouped.children].forEach((part, i) => part.setAttribute('aria-pressed', String(Boolean(context.params.list) === (i === 1))));
    only.value = context.params.only ?? '';
    if (named_ !== document.activeElement) named_.value = context.params.named ?? '';
    const rows = [];
    if (!context.params.list) for (let i = 0; i < life.n; i++) rows.push(i);
    else {
      // A saved item belongs to the launch that flushed it, anything else to the running one of its device.
      const groups = [{text: 'Outside of the app: servers, imports, before the first launch', rows: []}, ...life.launches.map((i, n) => ({text: `Launch ${n + 1} on ${life.device[i] ?? 'a device'}`, rows: []})), {text: 'Waits for a launch', rows: []}];
      for (let i = 0; i < life.n; i++) {
        const with_ = life.decidedWith(i) || (life.state(i) === 'waits' ? groups.length - 1 : life.launchNumber(i));
        groups[with_].rows.push(i);
      }
      for (const g of groups) if (g.rows.length) rows.push({text: `${g.text} · ${count(g.rows.length, 'step')}`}, ...g.rows);
    }
    list.set(rows);
    let matches = 0;
    if (isFiltered()) for (let i = 0; i < life.n; i++) if (fits(i)) matches += 1;
    matching.textContent = isFiltered() ? `${matches.toLocaleString('en')} of ${life.n.toLocaleString('en')} match` : '';
    return true;
  }
  function toRow() {
    if (k) list.select(k - 1);
    list.element.focus();
    list.element.scrollIntoView({block: 'nearest'});
  }

  // All parts together

  function update() {
    if (!life) return;
    k = life.count(context.at);
    const axis = context.params.axis ?? 'step', vs = b();
    if (!context.params.field) { if (chosen) { chosen = null; why.clear(); placeCause(); drawProfile(); } } else if (chosen && paramOf(chosen) !== context.params.field) { chosen = guess(context.params.field); drawProfile(); }
    rebuildList();
    line.show({k, at: context.at, b: vs === null ? null : life.count(vs), axis, dims: isFiltered() ? (i) => !fits(i) : null});
    list.select(k ? k - 1 : null);
    if (context.at !== null) {
      const next = k < life.n ? life.says(k, life.position[k]) : null;
      context.past('You look at ', k ? h('strong', null, time(iso(life.recorded[k - 1]))) : 'the time before the first step', `, step ${k.toLocaleString('en')} of ${life.n.toLocaleString('en')}.`, next ? [' One step later: ', foreign(next), '.'] : null);
    }
    sayStep();
    wantProfile();
    showPlane(axis).catch((error) => { if (!isAbort(error)) fill(plane, failureView(error, null)); });
    rest();
  }
  let newsTimer = 0;
  context.on('position', () => { newsTimer ||= setTimeout(async () => {
    newsTimer = 0;
    if (signal.aborted || !life) return;
    try {
      const {times} = await get('/v1/history', {user, merged: true, parts: 'times', limit: 1, after: life.n ? life.position[life.n - 1] : undefined}, {signal, quiet: true});
      if (times.position.length) { cached.clear(); lifePanel.load(); }
    } catch { /* the next news asks again */ }
  }, 1000); });
  context.on('act', () => rest());
  signal.addEventListener('abort', () => resting.abort());

  const rest_ = [stepPanel, h('div', {class: 'two'}, profilePanel, side), listPanel];
  for (const part of rest_) part.hidden = true;

  return {
    start() {
      context.title(user);
      root.append(heading, identity, lifePanel.element, ...rest_);
      side.append(hint, why.element);
      placeCause();
      lifePanel.load();
    },
    update,
  };
}
