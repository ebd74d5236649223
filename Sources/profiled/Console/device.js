// A device at any moment: what waits in its lists, what its SDK holds, what reached the server since the launch, and beside
// each item what the published code would have made of it. `launch=` is replayed step by step.
import {get} from './api.js';
import {copyLine, quote} from './copy.js';
import {atMost, button, count, dim, facts, fill, foreign, h, h1, inRow, number, para, ref, say, segments, uncut, valueText} from './dom.js';
import {unusual} from './devices.js';
import {emptyView, panel} from './panel.js';
import {userKey} from './router.js';
import {table} from './table.js';
import {span, time, timeText} from './time.js';
import {beyond, eventLink as toEvent, eventsBy, isContent, mark, person, plain, positionColumn, subject, told} from './words.js';

const lists = {pending_custom_events: 'Events', pending_custom_attributes: 'Attributes', pending_user_attributes: 'User attributes'};
const filters = {launches: 'appLaunched,pendingFlushed,dataSent', settings: 'deviceChanged,userChanged,userLoggedOut,appRemoved', messages: 'messageSent,pushReceived,pushNotReceived,pushExpanded,pushOpened,pushDismissed,inAppMessageShown,inAppMessageClosed'};
const ofLaunch = /^(appLaunched|session|messageSent|inApp|pendingFlushed|dataSent|push(Opened|Processed|Captured))/;
const listKinds = {pending_custom_events: 'customEvent', pending_custom_attributes: 'customAttributes', pending_user_attributes: 'userAttributes'};
// Items of a list that are shown: the document stays below 1,500 elements.
const MOST = 12, PACE = 1200;
const waiting = (pending) => pending.devices.flatMap((d) => d.storages.flatMap((s) => Object.values(s.kinds).flat()));
const list = (...all) => h('ul', {class: 'plain stack'}, ...all);
const eventLink = (position, text = `position ${position}`) => toEvent(position, text);

let page = null;
export function mount(root, context) {
  // As a path of the API wants it: all but letters, digits, - and _ escaped.
  const {id} = context, path = `/v1/devices/${encodeURIComponent(id).replace(/[.!~*'()]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`;
  context.title(id);
  // A browser takes `.` and `..` out of a path, escaped or not: an action would reach another device.
  if (/^\.\.?$/.test(id)) {
    page = null;
    return root.append(h1(foreign(id)), para('dim', 'No path can hold this name: this device cannot be shown here.'));
  }

  // What the published code would have made of the items

  let ghosts = new Map();
  const published = panel(context, {
    title: 'Beside the published code',
    load: async ({get: ask}) => {
      // A launch that is replayed is judged as a whole, so that what still waits has its ghost already.
      const query = {device: id, until: context.params.launch ? (await tapeOf(ask, Number(context.params.launch))).steps.at(-1) : context.as_of};
      const [theirs, ours] = await Promise.all([ask('/v1/whatif', {...query, fault: 'newest', items: 1000}), ask('/v1/whatif', {...query, policy: 'standard', items: 0})]);
      return {theirs, ours};
    },
    empty: ({theirs}) => theirs.items ? null : emptyView('Nothing was saved on this device yet.', 'The published code is played with the saves, launches and people of this log.'),
    show: ({theirs, ours}) => {
      ghosts = new Map(theirs.affected_items.map((i) => [i.position, i.deviations]));
      if (stage.data) redraw();
      const done = ours.delivered_right + ours.affected, wait = ours.waiting + ours.stranded;
      return h('details', h('summary', done ? `Here ${ours.delivered_right} of ${done} right; published code ${theirs.delivered_right} of ${done}.` : 'Nothing that was saved has been delivered yet.'),
        para('dim', 'Right: delivered once, to its person, with its own time and type.', wait ? ` ${count(wait, 'more saved item')} ${wait === 1 ? 'waits' : 'wait'} here.` : ''),
        h('ul', {class: 'plain'}, theirs.faults.map((f) => h('li', `Fault ${f.fault}: `, foreign(f.title), dim(` – ${Object.entries(f.effects).map(([effect, n]) => `${plain(effect)} ${n}`).join(', ')}`)))));
    },
  });

  // Lists, queue, server

  function item(i, state, says, kind = i.kind) {
    const about = i.properties ?? i.attributes ?? i.value;
    return h('li', {'data-item': i.position}, h('p', mark(listKinds[kind] ?? kind ?? 'customAttributes', state), eventLink(i.position, foreign(subject(i) || `position ${i.position}`)), about === undefined ? null : [' ', foreign(valueText(about), {class: 'value dim'})]),
      para('small dim', says, i.saved_at ? [', saved ', time(i.saved_at)] : null, i.process && i.process !== 'app' ? [' by ', foreign(i.process)] : null, i.user ? [', for ', foreign(i.user)] : null),
      (ghosts.get(i.position) ?? []).map((d) => para('ghost small', `Published code: ${plain(d.effect)}. `, foreign(d.sentence), ` (fault ${d.fault})`)));
  }
  const items = (all, view, none) => all.length ? [list(all.slice(0, MOST).map(view)), all.length > MOST ? para('dim', `and ${number(all.length - MOST)} more`) : null] : none && para('dim', none);
  const column = (title, ...content) => h('section', {'aria-label': title}, h('h3', title), content);
  const columns = ({device, pending, tape}) => h('div', {class: 'stages'},
    column(`Waits for a launch: ${pending.total}`, (pending.devices[0]?.storages ?? []).map((s) => [para('small dim', 'In ', foreign(s.storage)), s.hidden_because ? para('small warn', foreign(s.hidden_because)) : null,
      Object.entries(lists).map(([kind, name]) => [para('dim', `${name}: ${s.kinds[kind].length}`), items(s.kinds[kind], (i) => item(i, 'waits', 'waits', kind))])]), pending.total ? null : para('dim', 'Nothing: an extension saves what the next launch takes.')),
    column(`In the SDK’s queue: ${pending.queued}`, items(pending.devices[0]?.queue ?? [], (i) => item(i, 'queued', `taken, not sent (${plain(i.why)})`), device.settings.sdk_enabled ? 'Nothing: the SDK has sent what it took.' : 'The SDK is off: it takes nothing.')),
    column(`On the server${tape ? ` since launch ${tape.launch}` : ''}`, tape ? items(reached(tape), ([i, state, says]) => item(i, state, says), 'Nothing yet.') : para('dim', 'The app was not launched yet: nothing that waits has gone to the server.')));
  /** What the events of a tape brought to the server by the moment, the newest first. */
  function reached({events, known}) {
    const all = [], add = (positions, state, says) => { for (const p of positions ?? []) all.unshift([known.get(p) ?? {position: p}, state, says]); };
    for (const e of events.filter((x) => context.at === null || x.position <= context.at)) {
      if (e.kind === 'pendingFlushed' && !e.queued) add(e.flushed, 'effective', `flushed at ${e.position} (${timeText(e.recorded_at)})`);
      for (const r of e.rejected ?? []) add([r.position], 'refused', `refused: ${r.reason}`);
      add(e.sent, 'effective', `sent at ${e.position}`);
      add(e.discarded, 'void', `discarded: ${e.reason ?? ''}`);
      if (isContent(e.kind) && /(Logged|Changed)$/.test(e.kind)) add([e.position], 'effective', 'logged, effective at once');
    }
    return all;
  }

  // A launch by positions: what waited before it, the events up to the next one, and its own steps

  const tapes = new Map();
  // How far the log was when something last happened on this device.
  let end = context.store.position;
  async function tapeOf(ask, launch) {
    const kept = tapes.get(launch);
    if (kept && (kept.isWhole || kept.end === end)) return kept;
    const [{events}, pending] = await Promise.all([eventsBy(ask, {device: id, after: launch - 1, limit: 500}, 3), ask('/v1/pending', {device: id, as_of: launch - 1, limit: 500}).catch((error) => {
      if (error.status === 404) return {devices: []};
      throw error;
    })]);
    const upTo = (all, i) => i < 0 ? all : all.slice(0, i), next = events.findIndex((e, i) => i && e.kind === 'appLaunched'), mine = upTo(events, next);
    const known = new Map([...waiting(pending), ...pending.devices.flatMap((d) => d.queue)].map((i) => [i.position, i]));
    for (const e of mine) if (isContent(e.kind)) known.set(e.position, {...e, saved_at: e.occurred_at});
    const own = upTo(mine, mine.findIndex((e) => !ofLaunch.test(e.kind))), last = own.findLastIndex((e) => /^(pendingFlushed|dataSent)$/.test(e.kind));
    const tape = {launch, end, isWhole: next >= 0, events: mine, known, steps: [launch - 1, ...upTo(own, last < 0 ? -1 : last + 1).map((e) => e.position)]};
    tapes.set(launch, tape);
    return tape;
  }
  let timer = 0, onEnd = null;
  const tape = () => stage.data?.tape?.launch === Number(context.params.launch) ? stage.data.tape : null;
  const stepOf = ({steps}) => steps.findLastIndex((p) => p <= (context.at ?? Infinity));
  const playButton = button('Play', () => timer ? pause() : play()), sentence = para('verdict');
  const bar = h('div', {class: 'stack', hidden: true}, inRow(button('Step back', () => step(-1)), button('Step', () => step(1)), playButton, button('Leave the replay', () => toNow())), sentence);
  function pause() {
    clearTimeout(timer);
    timer = 0;
    playButton.textContent = 'Play';
  }
  function move(by) {
    const position = tape()?.steps[stepOf(tape()) + by];
    if (position !== undefined) context.set({at: position});
    return position !== undefined;
  }
  function step(by) { pause(); move(by); }
  function play() {
    if (tape() && stepOf(tape()) === tape().steps.length - 1) context.set({at: tape().steps[0]});
    playButton.textContent = 'Pause';
    timer = setTimeout(function next() {
      if (context.signal.aborted) return;
      if (!tape() || move(1)) { timer = setTimeout(next, PACE); return; }
      pause();
      onEnd?.();
      onEnd = null;
    }, PACE);
  }
  function toNow() { pause(); context.set({launch: null, at: null}); }
  function cue(launch, then = null) {
    pause();
    onEnd = then;
    context.set({launch, at: launch - 1}, {push: true});
  }
  function replay(launch, pressed) {
    cue(launch, () => { context.set({at: null}); pressed.focus(); });
    play();
    playButton.focus();
  }
  function neighbour(by) {
    const all = history.data?.launches ?? [], now = Number(context.params.launch) || (context.at ?? Infinity), launch = by < 0 ? all.find((p) => p < now) : all.findLast((p) => p > now);
    if (launch) cue(launch); else say(by < 0 ? 'There is no launch before.' : 'There is no later launch.');
  }
  function redraw() {
    const {device, pending, tape: t} = stage.data;
    fill(stage.body, device.note ? para('dim', foreign(device.note)) : null, columns(stage.data));
    bar.hidden = !t || !context.params.launch;
    if (bar.hidden) return;
    const i = stepOf(t), text = `Step ${i + 1} of ${t.steps.length}: ${i > 0 ? told({...t.events[i - 1], device: null}) : `before launch ${t.launch}, ${count(pending.total, 'item')} ${pending.total === 1 ? 'waits' : 'wait'}`}.`;
    if (sentence.textContent !== text) say(sentence.textContent = text);
  }
  const stage = panel(context, {
    title: 'Where each item is',
    load: async ({get: ask}) => {
      const {as_of} = context, [device, pending] = await Promise.all([ask(path, {as_of}), ask('/v1/pending', {device: id, as_of, limit: 500})]).catch(async (error) => {
        if (error.code === 'unknown_device' && as_of === undefined) fill(root, h1(foreign(id)), (await import('./search.js')).unknown('devices', id));
        throw error;
      }), launch = Number(context.params.launch) || device.last_launch?.position;
      return {device, pending, tape: launch ? await tapeOf(ask, launch) : null};
    },
    show: ({device}) => { redraw(); describe(device); },
  });

  // The person, settings, screen, events

  const who = para('dim'), now = h('div');
  function describe(d) {
    const s = d.settings;
    fill(who, d.user ? ['On it: ', person(d.user, {params: {at: context.at}})] : 'Nobody is on it', d.last_launch ? [' · launched last ', time(d.last_launch.at), ', ', eventLink(d.last_launch.position)] : ' · never launched', d.session ? [' · session since ', time(d.session.at)] : ' · no session', unusual(d) ? [' · ', h('strong', {class: 'warn'}, unusual(d))] : null);
    fill(now, facts(['Network', s.online ? 'online' : 'offline'], ['SDK', !s.sdk_enabled ? 'off' : s.sdk_instance ? 'on' : 'not made yet'], ['Sends', s.request_policy === 'manual' ? 'on request' : s.flush_interval_s ? `every ${span(s.flush_interval_s)}` : 'at once'], ['Session ends after', span(s.session_timeout_s)],
      ['Pushes', plain(s.permission)], ['Swiped away', s.force_quit ? 'yes' : 'no'], ['Content extension', foreign(s.content_extension?.categories.join(', ') ?? 'none')], ['App groups missing', foreign(s.missing_app_groups.map((g) => `${g.process}: ${g.app_group}`).join(', ') || 'none')]));
    acts?.show();
  }
  const changes = (next, old) => Object.keys(next).filter((k) => JSON.stringify(next[k]) !== JSON.stringify(old[k])).map((k) => `${plain(k)}: ${valueText(old[k])} → ${valueText(next[k])}`).join('; ');
  const settings = panel(context, {
    title: 'Settings', load: async ({get: ask}) => eventsBy(ask, {device: id, kind: 'deviceChanged', reverse: true, limit: 20, after: await beyond(context)}),
    show: ({events}) => [now, h('h3', 'Changes'), events.length ? list(events.map((e, i) => h('li', ref(context.link('devices', id, {at: e.position}), time(e.recorded_at)), ' ', foreign(events[i + 1] ? changes(e.settings, events[i + 1].settings) : 'set up')))) : para('dim', 'Nothing was changed: these are the defaults.')],
  });
  const screen = panel(context, {
    title: 'On the screen and on the way', load: ({get: ask}) => Promise.all(['pushes', 'messages'].map((what) => ask(`${path}/${what}`, {as_of: context.as_of}))),
    empty: ([p, m]) => p.underway.length + p.shown.length + p.captured.length + m.stack.length + m.delayed.length || m.screen ? null : emptyView('Nothing is on the screen or on its way.', `${count(m.eligible.length, 'in-app message')} can be triggered by an event.`),
    show: ([p, m]) => {
      const message = (x, user) => ref(context.link('messages', x, {user, at: context.at}), foreign(x));
      const part = (title, kind, state, all, view) => all.length ? [h('h3', title), list(all.slice(0, MOST).map((x) => h('li', mark(kind, state), view(x))))] : null;
      const push = (x) => [x.message ? message(x.message, x.user) : 'a push of another service', ` sent at ${x.push}${x.screen ? `, ${plain(x.screen)}` : ''}`], inApp = (x) => message(x, m.user?.id);
      return [part('Pushes on the screen', 'push', 'effective', p.shown, push), part('Pushes on their way', 'push', 'waits', p.underway, push), part('Captured for the SDK', 'push', 'waits', p.captured, push),
        part('In-app message on the screen', 'inApp', 'effective', [m.screen].filter(Boolean), inApp), part('Waits to be shown', 'inApp', 'waits', [...m.stack, ...m.delayed.map((x) => x.message)], inApp)];
    },
  });
  let rows = null;
  const shown = () => context.params.show ?? 'all';
  const history = panel(context, {
    title: 'What happened on it', actions: [segments('Which events', [['all', 'All'], ['launches', 'Launches'], ['settings', 'Settings'], ['messages', 'Messages']], shown(), (show) => context.set({show: show === 'all' ? null : show}))],
    load: async ({get: ask}) => {
      const query = {device: id, reverse: true, limit: 200}, kind = filters[shown()];
      const [first, launches] = await Promise.all([eventsBy(ask, {...query, kind}), eventsBy(ask, {...query, kind: 'appLaunched'})]);
      return {...first, query: {...query, kind}, launches: launches.events.map((e) => e.position)};
    },
    empty: (d) => d.events.length ? null : emptyView('Nothing of this kind happened on it.', 'The first save, log or launch brings it here:', copyLine(`profilecli launch ${quote(id)}`)),
    show: ({events, after, query}) => {
      rows = table({
        label: 'Events of the device, newest first', key: (e) => e.position, choose: (e) => { pause(); context.set({at: e.position, launch: null}); },
        columns: [{head: 'Recorded', width: '152px', wide: true, cell: (e) => time(e.recorded_at)}, positionColumn,
          {head: 'What', cell: (e) => [e.kind === 'appLaunched' ? [button('Replay', () => { cue(e.position); play(); }, {class: 'text', 'aria-label': `Replay launch ${e.position}`}), ' '] : null, uncut(told({...e, device: null}))]}],
        more: async (ask) => {
          if (!after) return [];
          const next = await eventsBy(ask, {...query, after});
          ({after} = next);
          return next.events;
        }});
      rows.set(events);
      rows.select(context.at);
      return [para('dim', '↑ ↓ choose the moment; [ ] go to a launch, comma and period step through it, P plays, N is now.'), rows.element];
    },
  });


  const hint = para('dim'), acting = h('section', {'aria-label': 'Act'}, hint);
  let acts = null;
  async function act() {
    hint.hidden = context.act || context.at !== null;
    hint.textContent = context.can('v1.write') ? 'Choose Act in the top bar to save, log, launch, or change this phone.' : 'This key may not write (v1.write).';
    if (context.act && !acts) {
      acts = {show() {}};
      const {forms} = await import('./act.js');
      acts = forms({id, path, eventLink, settings: () => stage.data?.device.settings ?? {}, done: () => stage.load(), replay});
      acting.append(acts.element);
      acts.show();
    }
    if (acts?.element) acts.element.hidden = !context.act;
  }
  root.append(h1(foreign(id)), who, stage.element, published.element, acting, h('div', {class: 'two'}, history.element, h('div', {class: 'panels'}, settings.element, screen.element)));
  stage.element.insertBefore(bar, stage.body);
  context.keys(root, 'Device', {BracketLeft: ['before the launch before', () => neighbour(-1)], BracketRight: ['before the next launch', () => neighbour(1)], Comma: ['one step of the launch back', () => step(-1)], Period: ['one step of the launch on', () => step(1)], KeyP: ['play or pause', () => playButton.click()], KeyN: ['now', toNow]});

  let judging = 0, judgement = null, moment = null, verdict = null, seen = null;
  page = {pause, show() {
    end ??= context.store.position;
    const {at, params} = context, next = at ?? `now ${end}`, judged = JSON.stringify([params.launch ?? at ?? '', end]), log = JSON.stringify([shown(), end]);
    act();
    const staged = stage.load(), loads = [staged];
    if (next !== moment) for (const p of [settings, screen]) loads.push(p.load());
    if (judged !== verdict) {
      // Two plays of the log: after what is looked at, and not at each step of a drag.
      clearTimeout(judging);
      judging = setTimeout(() => staged.then(() => { if (!context.signal.aborted) judgement = published.load(); }), verdict === null ? 0 : 300);
    }
    if (log !== seen) loads.push(history.load()); else rows?.select(at);
    [moment, verdict, seen] = [next, judged, log];
    if (at !== null) context.past(h('strong', foreign(id)), ` at position ${number(at)}${end === null ? '' : ` of ${number(end)}`}: a phone of the past. Nothing can be done on it.`);
    else if (context.store.position > (known ?? end)) soon();
    return Promise.all(loads);
  }};
  // One small question first: most news are about others. What comes while the page loads waits.
  let known = null, busy = null, again = null;
  const soon = atMost(500, () => {
    if (context.at !== null || context.signal.aborted) return;
    again = busy;
      busy ??= look().catch(() => {}).then(() => { busy = null; if (again) soon(); });
  });
  async function look() {
    await judgement;
    const now = context.store.position, {user} = stage.data?.device ?? {}, after = known ?? end;
    const ask = (filter) => eventsBy((p, q) => get(p, q, {signal: context.signal, quiet: true}), {...filter, after, limit: 1});
    // A person who is not known any more was erased.
    const found = await Promise.all([ask({device: id}), user && ask({user: userKey(user)}).catch((error) => { if (error.status !== 404) throw error; return {events: [error]}; })]);
    known = now;
    if (!found.some((f) => f?.events.length)) return;
    end = now;
    await page.show();
  }
  context.on('position', soon);
  context.on('store', act);
  context.whenReady(page.show);
}
export const update = () => page?.show();
export const unmount = () => page?.pause();
