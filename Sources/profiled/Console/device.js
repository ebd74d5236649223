// A device at any moment: what waits in its three lists, what its SDK holds, what reached the server since the launch; beside
// each item what the published code would have made of it. `at=` is the moment, `launch=` the launch that is replayed step by
// step, `fault=` the faults that are switched on, `show=` which events are listed. In Act the forms below write.
import {h, fill, foreign, valueText, count, say, segments, newID, copyLine} from './dom.js';
import {panel, emptyView, failureView} from './panel.js';
import {get, post} from './api.js';
import {table} from './table.js';
import {time, span} from './time.js';
import {unusual} from './devices.js';
import {mark, subject, told} from './message.js';

const lists = {pending_custom_events: 'Events', pending_custom_attributes: 'Attributes', pending_user_attributes: 'User attributes'};
const shape = (kind) => /event/i.test(kind) ? 'event' : /purchase/i.test(kind) ? 'purchase' : 'attribute';
const content = /^(customEvent|customAttributes|userAttributes?|purchase)(Saved|Logged|Changed|Queued)$/;
const escaped = (id) => encodeURIComponent(id).replace(/[.!~*'()]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
const MOST = 40;

let page = null;
export function mount(root, context) {
  const id = context.id, path = `/v1/devices/${escaped(id)}`;
  context.title(id);
  const asOf = () => context.at ?? undefined;
  const before = (at) => at !== null && context.store.position > at ? at + 1 : undefined;
  const here = (params) => context.link('devices', id, params);
  const eventLink = (p) => h('a', {href: context.link('events', p)}, `position ${p}`);

  // What the published code would have made of each item
  let ghosts = new Map();
  const verdict = panel(context, {
    title: 'The published code beside it', load: async (ask) => {
      const q = {device: id, until: asOf(), items: 1000};
      const [published, ours, waiting] = await Promise.all([ask.get('/v1/whatif', {...q, fault: context.params.fault ?? 'newest'}), ask.get('/v1/whatif', {...q, policy: 'standard', items: 0}),
        ask.get('/v1/pending', {device: id, as_of: asOf(), limit: 1000})]);
      const positions = waiting.devices.flatMap((d) => d.storages.flatMap((s) => Object.values(s.kinds).flat().map((i) => i.position)));
      return {published, ours, waiting: new Set(positions)};
    },
    empty: (d) => d.published.items ? null : emptyView('Nothing was saved on this device yet.', 'The published code is played with the saves, launches and people of this log.'),
    show: ({published: p, ours, waiting}) => {
      ghosts = new Map(p.affected_items.map((i) => [i.position, i.deviations]));
      if (stage.data) redraw();
      const delivered = ours.delivered_right + ours.affected, early = p.affected_items.filter((i) => waiting.has(i.position)).length;
      return [h('p', {class: 'verdict'}, `Here ${ours.delivered_right} of ${delivered} right; published code ${p.delivered_right} of ${delivered}.`),
        h('p', {class: 'dim'}, `Of ${count(p.items, 'saved item')}: right means the right person, its own time and its own type, once.`, ours.waiting + ours.stranded ? ` ${count(ours.waiting + ours.stranded, 'item')} still ${ours.waiting + ours.stranded === 1 ? 'waits' : 'wait'}${early ? `; the published code would already have spoiled ${early} of them` : ''}.` : ''),
        p.faults.length ? h('ul', {class: 'plain'}, p.faults.map((f) => h('li', null, `Fault ${f.fault}: `, foreign(f.title), h('span', {class: 'dim'}, ` – ${Object.entries(f.effects).map(([e, n]) => `${e.replaceAll('_', ' ')} ${n}`).join(', ')}`)))) : null];
    },
  });
  const ghost = (position) => ghosts.get(position)?.map((d) => h('p', {class: 'ghost small'}, `Published code: ${d.effect.replaceAll('_', ' ')}. `, foreign(d.sentence), ` (fault ${d.fault})`));

  // Lists, queue, server
  function item(i, state, says) {
    const about = i.properties ?? i.attributes ?? (i.attribute && 'value' in i ? i.value : undefined);
    return h('li', {class: 'item', 'data-item': i.position}, h('p', null, mark(shape(i.kind), state), ' ', h('a', {href: context.link('events', i.position)}, foreign(subject(i) || `position ${i.position}`)), about === undefined ? null : [' ', foreign(valueText(about), {class: 'value dim'})]),
      h('p', {class: 'small dim'}, says, i.saved_at ? [', ', time(i.saved_at)] : null, i.process && i.process !== 'app' ? [' by ', foreign(i.process)] : null, i.user ? [', for ', foreign(i.user)] : null), ghost(i.position));
  }
  const some = (all, view, none) => all.length ? [h('ul', {class: 'plain stack'}, all.slice(0, MOST).map(view)), all.length > MOST ? h('p', {class: 'dim'}, `and ${count(all.length - MOST, 'more item', 'more items')}`) : null] : h('p', {class: 'dim'}, none);
  function columns({device, pending, tape}) {
    const held = pending.devices[0] ?? {storages: [], queue: []};
    const storages = held.storages.length ? held.storages : [{storage: 'group.app', visible_to_app: true, kinds: Object.fromEntries(Object.keys(lists).map((k) => [k, []]))}];
    return h('div', {class: 'stages'},
      h('section', {'aria-label': 'Waits for a launch'}, h('h3', null, `Waits for a launch: ${device.waiting}`), storages.map((s) => [h('p', {class: 'small dim'}, 'In ', foreign(s.storage)), s.hidden_because ? h('p', {class: 'small warn'}, foreign(s.hidden_because)) : null,
        Object.entries(lists).map(([kind, name]) => [h('h4', null, `${name}: ${s.kinds[kind].length}`), some(s.kinds[kind], (i) => item(i, 'waits', 'waits'), 'empty')])])),
      h('section', {'aria-label': 'In the SDK’s queue'}, h('h3', null, `In the SDK’s queue: ${device.queued}`), some(held.queue, (i) => item(i, 'queued', `taken, not sent (${i.why ?? ''})`), device.settings.sdk_enabled ? 'Nothing is held: what the SDK takes it has sent.' : 'The SDK is off: it takes nothing.')),
      h('section', {'aria-label': 'On the server'}, h('h3', null, `On the server${tape ? ` since launch ${tape.launch}` : ''}`), server(tape)));
  }
  function server(tape) {
    if (!tape) return h('p', {class: 'dim'}, 'The app was not launched yet: nothing that waits has gone to the server.');
    const done = [];
    const add = (position, state, says) => done.push([tape.items.get(position) ?? {position, kind: ''}, state, says]);
    for (const e of tape.events) {
      if (context.at !== null && e.position > context.at) break;
      if (e.kind === 'pendingFlushed' && !e.queued) for (const p of e.flushed) add(p, 'effective', `flushed at ${e.position}`);
      if (e.kind === 'pendingFlushed') for (const r of e.rejected) add(r.position, 'refused', `refused: ${r.reason}`);
      if (e.kind === 'dataSent') for (const p of e.sent) add(p, 'effective', `sent at ${e.position}`);
      if (e.kind === 'pendingDiscarded') for (const p of e.discarded) add(p, 'void', `discarded: ${e.reason ?? ''}`);
      if (content.test(e.kind) && /(Logged|Changed)$/.test(e.kind)) add(e.position, 'effective', 'logged, effective at once');
    }
    return some(done.reverse(), ([i, state, says]) => item(i, state, says), 'Nothing yet.');
  }

  // A launch, position by position
  const tapes = new Map();
  const own = /^(appLaunched|session|inApp|pendingFlushed|dataSent|push(Opened|Processed|Captured))/;
  async function tapeOf(ask, launch) {
    const end = context.store.position;
    const kept = tapes.get(launch);
    if (kept && (kept.isWhole || kept.end === end)) return kept;
    const [{events}, pending] = await Promise.all([ask.get('/v1/events', {device: id, after: launch - 1, limit: 500}), ask.get('/v1/pending', {device: id, as_of: launch - 1 || undefined, limit: 500}).catch((error) => { if (error.status === 404) return {devices: []}; throw error; })]);
    const next = events.findIndex((e, i) => i && e.kind === 'appLaunched');
    const mine = next < 0 ? events : events.slice(0, next);
    const items = new Map();
    for (const d of pending.devices) for (const i of [...d.queue, ...d.storages.flatMap((s) => Object.values(s.kinds).flat())]) items.set(i.position, i);
    for (const e of mine) if (content.test(e.kind)) items.set(e.position, {...e, saved_at: e.occurred_at});
    let last = mine.findIndex((e, i) => i && !own.test(e.kind) && !(e.kind === 'messageSent' && !e.message));
    if (last < 0) last = mine.length;
    const tape = {launch, end, isWhole: next >= 0, events: mine, items, steps: [launch - 1, ...mine.slice(0, last).map((e) => e.position)]};
    tapes.set(launch, tape);
    return tape;
  }
  const bar = h('div', {class: 'stack', hidden: true});
  const sentence = h('p', {class: 'verdict'});
  const button = (label, f) => h('button', {type: 'button', on: {click: f}}, label);
  const play = button('Play', () => playing ? pause() : start());
  bar.append(h('div', {class: 'row'}, button('Step back', () => { pause(); step(-1); }), button('Step', () => { pause(); step(1); }), play, button('Leave the replay', () => { pause(); context.set({launch: null, at: null}); })), sentence);
  let playing = 0, returns = false;
  function step(by) {
    const tape = stage.data?.tape;
    if (!tape || !context.params.launch) return false;
    const now = context.at ?? Infinity, i = tape.steps.findLastIndex((p) => p <= now);
    const next = tape.steps[i + by];
    if (next === undefined || i + by < 0) return false;
    context.set({at: next});
    return true;
  }
  function pause() {
    clearTimeout(playing);
    playing = 0;
    play.textContent = 'Play';
  }
  function start() {
    const tape = stage.data?.tape;
    if (tape && (context.at === null || context.at >= tape.steps.at(-1))) context.set({at: tape.steps[0]});
    play.textContent = 'Pause';
    const tick = () => {
      if (context.signal.aborted) return;
      if (step(1)) { playing = setTimeout(tick, 1200); return; }
      pause();
      if (returns) { returns = false; context.set({at: null}); }
    };
    playing = setTimeout(tick, 1200);
  }
  /** Shows the launch at a position from just before it, and plays; after one's own launch it ends at now. */
  function replay(launch, isOwn = false) {
    pause();
    returns = isOwn;
    context.set({launch, at: launch - 1}, {push: true});
    start();
  }
  function launchBy(by) {
    const all = (history.data?.launches ?? []).toReversed(), now = Number(context.params.launch) || (context.at ?? Infinity);
    const next = by < 0 ? all.findLast((p) => p < now) : all.find((p) => p > now);
    if (next === undefined) return say(by < 0 ? 'There is no launch before.' : 'There is no later launch.');
    pause();
    context.set({launch: next, at: next - 1}, {push: true});
  }

  let places = new Map();
  function redraw() {
    const {body} = stage;
    places = new Map([...body.querySelectorAll('[data-item]')].map((e) => [e.dataset.item, e.getBoundingClientRect()]));
    const {device, tape} = stage.data;
    fill(body, device.note ? h('p', {class: 'dim'}, foreign(device.note)) : null, columns(stage.data));
    if (places.size && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
      for (const e of body.querySelectorAll('[data-item]')) {
        const was = places.get(e.dataset.item), is = e.getBoundingClientRect();
        if (was && (was.x !== is.x || was.y !== is.y)) e.animate([{transform: `translate(${was.x - is.x}px, ${was.y - is.y}px)`}, {transform: 'none'}], {duration: 200, easing: 'ease-out'});
      }
    }
    bar.hidden = !context.params.launch || !tape;
    if (!bar.hidden) {
      const i = tape.steps.findLastIndex((p) => p <= (context.at ?? Infinity)), e = tape.events[i - 1];
      const text = `Step ${i + 1} of ${tape.steps.length}: ${i <= 0 ? `before launch ${tape.launch}; ${count(device.waiting, 'item')} ${device.waiting === 1 ? 'waits' : 'wait'}` : told(e)}.`;
      if (sentence.textContent !== text) { sentence.textContent = text; say(text); }
    }
  }
  const stage = panel(context, {
    title: 'Where each item is', load: async (ask) => {
      const [device, pending] = await Promise.all([ask.get(path, {as_of: asOf()}), ask.get('/v1/pending', {device: id, as_of: asOf(), limit: 500})]);
      const launch = Number(context.params.launch) || device.last_launch?.position;
      return {device, pending, tape: launch ? await tapeOf(ask, launch) : null};
    },
    show: (data) => { stage.data = data; redraw(); header(data.device); },
  });

  // Who and how
  const who = h('p', {class: 'dim'});
  let net = null;
  function header(d) {
    fill(who, d.user ? ['On it: ', h('a', {href: context.userLink(d.user, {at: context.at})}, foreign(d.user.id ?? d.user.braze_id))] : 'Nobody is on it', ' · ',
      d.last_launch ? ['launched last ', time(d.last_launch.at), ' (', eventLink(d.last_launch.position), ')'] : 'never launched', ' · ', d.session ? ['session since ', time(d.session.at)] : 'no session', unusual(d) ? [' · ', h('strong', {class: 'warn'}, unusual(d))] : null);
    net?.(d);
    const s = d.settings, yes = (v) => v ? 'yes' : 'no';
    fill(setup.facts, Object.entries({Network: s.online ? 'online' : 'offline', SDK: s.sdk_enabled ? 'on' : 'off', 'The SDK’s instance': s.sdk_instance ? 'made' : 'not made', 'Sends': s.request_policy === 'manual' ? 'only on request' : s.flush_interval_s ? `every ${span(s.flush_interval_s)}` : 'at once', 'Session ends after': span(s.session_timeout_s),
      'May show pushes': s.permission.replace('_', ' '), 'Swiped away': yes(s.force_quit), 'Content extension': s.content_extension ? `for ${s.content_extension.categories.join(', ')}` : 'none', 'App groups missing': s.missing_app_groups.map((g) => `${g.process}: ${g.app_group}`).join(', ') || 'none'})
      .map(([n, v]) => [h('dt', null, n), h('dd', null, foreign(v))]));
  }
  const setup = {facts: h('dl', {class: 'facts'})};
  const changed = (now, old) => Object.keys(now).filter((k) => JSON.stringify(now[k]) !== JSON.stringify(old?.[k])).map((k) => `${k.replaceAll('_', ' ')}: ${old ? `${valueText(old[k])} → ` : ''}${valueText(now[k])}`).join('; ');
  const settings = panel(context, {
    title: 'Settings', load: (ask) => ask.get('/v1/events', {device: id, kind: 'deviceChanged', reverse: true, limit: 50, after: before(context.at)}),
    show: ({events}) => {
      const all = events.filter((e) => context.at === null || e.position <= context.at);
      return [setup.facts, h('h3', null, 'Changes'), all.length ? h('ul', {class: 'plain stack'}, all.slice(0, 10).map((e, i) => h('li', null, h('a', {href: here({at: e.position})}, time(e.recorded_at)), ' ', foreign(all[i + 1] ? changed(e.settings, all[i + 1].settings) || 'nothing that is shown here' : 'set up')))) : h('p', {class: 'dim'}, 'Nothing was changed: these are the defaults.')];
    },
  });
  const screen = panel(context, {
    title: 'On the screen, on the way', load: (ask) => Promise.all([ask.get(`${path}/pushes`, {as_of: asOf()}), ask.get(`${path}/messages`, {as_of: asOf()})]),
    empty: ([p, m]) => p.underway.length + p.shown.length + p.captured.length + m.stack.length + m.delayed.length || m.screen ? null : emptyView('No push and no message is on the screen or on its way.', m.eligible.length ? `It has ${count(m.eligible.length, 'in-app message')} that an event can trigger.` : 'A send to its person or an in-app message brings one.'),
    show: ([p, m]) => {
      const pushes = (name, all, state) => all.length ? [h('h3', null, name), h('ul', {class: 'plain stack'}, all.slice(0, 20).map((x) => h('li', null, mark('message', state), ' ', x.message ? h('a', {href: context.link('messages', x.message, {user: x.user, at: context.at})}, foreign(x.message)) : 'a push of another service', ` (${x.screen?.replaceAll('_', ' ') ?? 'not shown'}, sent at ${x.push})`)))] : null;
      const named = (name, ids) => ids.length ? [h('h3', null, name), h('p', null, ids.map((x, i) => [i ? ', ' : '', h('a', {href: context.link('messages', x, {user: m.user?.id, at: context.at})}, foreign(x))]))] : null;
      return [pushes('Pushes on the screen', p.shown, 'effective'), pushes('Pushes on their way', p.underway, 'waits'), pushes('Captured, for the SDK', p.captured, 'queued'), named('In-app message on the screen', m.screen ? [m.screen] : []), named('Waits to be shown', m.stack), named('Waits for its time', m.delayed.map((x) => x.message))];
    },
  });

  const kinds = {all: undefined, launches: 'appLaunched,pendingFlushed,dataSent', settings: 'deviceChanged,userChanged,userLoggedOut,appRemoved', messages: 'messageSent,pushReceived,pushNotReceived,pushExpanded,pushOpened,pushDismissed,inAppMessageShown,inAppMessageClosed'};
  const history = panel(context, {
    title: 'What happened on it', actions: [segments('Which events', [['all', 'All'], ['launches', 'Launches'], ['settings', 'Settings'], ['messages', 'Messages']], context.params.show ?? 'all', (show) => context.set({show: show === 'all' ? null : show}))],
    load: async (ask) => {
      const q = {device: id, reverse: true, limit: 200};
      const [shown, launched] = await Promise.all([ask.get('/v1/events', {...q, kind: kinds[context.params.show ?? 'all']}), ask.get('/v1/events', {...q, kind: 'appLaunched'})]);
      return {...shown, show: context.params.show, launches: launched.events.map((e) => e.position)};
    },
    empty: (d) => d.events.length ? null : emptyView('Nothing of this kind happened on it.', 'The first save, log or launch brings it here:', copyLine(`profilecli launch ${id}`)),
    show: (d) => {
      let {cursor, scanned} = d;
      chooser = table({
        label: 'Events of the device, newest first', key: (e) => e.position, choose: (e) => { pause(); context.set({at: e.position, launch: null}); },
        columns: [{head: 'Recorded', width: '152px', wide: true, cell: (e) => time(e.recorded_at)}, {head: 'Position', width: '72px', num: true, cell: (e) => h('a', {href: context.link('events', e.position)}, String(e.position))},
          {head: 'What', cell: (e) => [e.kind === 'appLaunched' ? [h('button', {type: 'button', class: 'text', 'aria-label': `Replay launch ${e.position}`, on: {click: () => replay(e.position)}}, 'Replay'), ' '] : null, foreign(told(e), {cut: false})]}],
        more: async () => {
          if (scanned <= 1) return [];
          const next = await get('/v1/events', {device: id, reverse: true, limit: 200, kind: kinds[d.show ?? 'all'], after: cursor}, {signal: context.signal});
          ({cursor, scanned} = next);
          return next.events;
        }});
      chooser.set(d.events);
      if (context.at !== null) chooser.select(context.at);
      return [h('p', {class: 'dim'}, '↑ ↓ choose the moment. [ and ] go to the state before a launch, N to now.'), chooser.element];
    },
  });
  let chooser = null;

  const fault = h('select', {id: newID('fault'), on: {change: () => context.set({fault: fault.value === 'newest' ? null : fault.value})}}, [['newest', 'the newest snippets'], ['all', 'all faults that can show']].map(([v, t]) => h('option', {value: v}, t)));
  fault.value = context.params.fault ?? 'newest';
  verdict.setActions([h('label', {for: fault.id}, 'With'), fault]);

  const acting = h('section', {'aria-label': 'Act'});
  root.append(h('h1', {tabindex: '-1'}, foreign(id)), who, verdict.element, stage.element, acting, h('div', {class: 'two'}, history.element, h('div', {class: 'panels'}, settings.element, screen.element)));
  stage.element.insertBefore(bar, stage.element.children[1]);
  context.keys(root, 'Device', {BracketLeft: ['the state before the launch before', () => launchBy(-1)], BracketRight: ['before the next launch', () => launchBy(1)], KeyN: ['now', () => { pause(); context.set({at: null, launch: null}); }],
    KeyP: ['play or pause', () => playing ? pause() : start()], Comma: ['one step of the launch back', () => { pause(); step(-1); }], Period: ['one step of the launch on', () => { pause(); step(1); }]});

  page = {pause, seen: '', refresh(onlyMoment = false) {
    const moment = JSON.stringify([context.at, context.params.fault]);
    stage.load();
    if (!onlyMoment || moment !== page.seen) { settings.load(); screen.load(); if (!playing) verdict.load(); }
    page.seen = moment;
    if (history.data === null || history.data.show !== context.params.show || !onlyMoment) history.load(); else if (context.at !== null) chooser?.select(context.at);
    if (context.at !== null) context.past(h('strong', null, foreign(id)), ` at position ${context.at.toLocaleString('en')} of ${(context.store.position ?? 0).toLocaleString('en')}: a phone of the past. Nothing can be done on it.`);
    act();
  }};
  let acts = null;
  async function act() {
    if (acts === context.act) return;
    acts = context.act;
    if (!acts) { net = null; return fill(acting, h('p', {class: 'dim'}, context.at !== null ? 'Back at now, in Act, you can save, log and launch here.' : context.can('v1.write') ? 'Choose Act in the top bar to save, log, launch, or change this phone.' : 'This key may not write (v1.write).')); }
    fill(acting, forms());
    if (stage.data) net?.(stage.data.device);
  }

  // Act: each form sends once, and says its answer or its error in its own place
  const number = (_, v, context) => typeof v === 'number' && JSON.rawJSON && context && String(v) !== context.source ? JSON.rawJSON(context.source) : v;
  const json = (text) => { try { return JSON.parse(text, number); } catch { return text; } };
  function form(title, says, fields, buttons) {
    const inputs = fields.map(([name, label, kind, width]) => {
      const fieldID = newID('act');
      const input = Array.isArray(kind) ? h('select', {id: fieldID}, kind.map(([v, t]) => h('option', {value: v}, t))) : h('input', {id: fieldID, value: kind ?? '', autocomplete: 'off', spellcheck: 'false'});
      return {name, input, view: h('div', null, h('label', {for: fieldID}, label), input)};
    });
    const result = h('div', {class: 'stack', role: 'status'});
    const all = buttons.map(([label, make, isBad], i) => h('button', {type: i ? 'button' : 'submit', class: isBad ? 'bad' : null, on: i ? {click: () => send(make)} : {}}, label));
    async function send(make) {
      const v = Object.fromEntries(inputs.map((i) => [i.name, i.input.value.trim()]));
      for (const b of all) b.disabled = true;
      fill(result);
      try {
        const [where, body] = make(v);
        fill(result, answer(await post(where, body, {signal: context.signal})));
      } catch (error) {
        if (error.code === 'no_connection') { error.remedy = 'Whether it was done is not known. Look at the phone before you do it again.'; }
        if (!context.signal.aborted) fill(result, failureView(error, null));
      }
      for (const b of all) b.disabled = false;
    }
    return h('form', {class: 'panel stack', 'aria-label': title, on: {submit(event) { event.preventDefault(); send(buttons[0][1]); }}}, h('h3', null, title), says ? h('p', {class: 'dim'}, says) : null, inputs.map((i) => i.view), h('div', {class: 'row'}, all), result);
  }
  function answer(a) {
    const parts = [['flushed', 'flushed'], ['finished', 'of an earlier launch'], ['sent', 'sent'], ['queued', 'in the SDK’s queue'], ['left', 'left'], ['waiting', 'waiting'], ['discarded', 'discarded']]
      .map(([k, w]) => [Array.isArray(a[k]) ? a[k].length : typeof a[k] === 'number' ? a[k] : 0, w]).filter(([n]) => n).map(([n, w]) => `${n} ${w}`);
    const refused = (a.flushed ?? []).filter((i) => i.outcome === 'rejected').length;
    const launched = a.flushed ? a.position : a.events?.findLast?.((e) => e.kind === 'appLaunched')?.position;
    if (launched) replay(launched, true);
    return [h('p', null, a.position ? ['Done at ', eventLink(a.position), '. '] : 'It changed nothing. ', parts.length ? `${parts.join(', ')}.` : '', refused ? ` ${refused} refused.` : ''), a.lost ? h('p', {class: 'warn'}, `Lost: ${a.reason}`) : a.reason ? h('p', {class: 'dim'}, foreign(a.reason)) : null, a.note ? h('p', {class: 'warn'}, foreign(a.note)) : null];
  }
  function forms() {
    const kinds = [['event', 'an event'], ['attributes', 'an attribute'], ['user-attribute', 'a user attribute']];
    const about = (v) => {
      const x = v.value === '' ? undefined : json(v.value);
      return {device: id, process: v.process || undefined, ...({event: {name: v.name, properties: x}, attributes: {attributes: {[v.name]: x ?? null}}, 'user-attribute': {attribute: v.name, value: x ?? null}, purchase: {...x, product: v.name}}[v.kind])};
    };
    const push = (action, more) => (v) => [`${path}/push`, {action, ...more?.(v)}];
    const at = (end, body = () => ({})) => (v) => [`${path}/${end}`, body(v)];
    const online = form('Network and SDK', null, [], [['Go offline', at('settings', () => ({online: !stage.data?.device.settings.online}))], ['SDK off', at('settings', () => ({sdk_enabled: !stage.data?.device.settings.sdk_enabled}))], ['Send now', at('send')]]);
    net = (d) => { const [a, b] = online.querySelectorAll('button'); a.textContent = d.settings.online ? 'Go offline' : 'Go online'; b.textContent = d.settings.sdk_enabled ? 'SDK off' : 'SDK on'; };
    return h('div', {class: 'panels'},
      form('Save', 'Stored on the device; the next launch takes it.', [['kind', 'What', kinds], ['name', 'Name', ''], ['value', 'Value, or properties as JSON', ''], ['process', 'Process', 'app']], [['Save', (v) => [`/v1/save/${v.kind}`, about(v)]]]),
      form('Log', 'Effective at once, if the SDK can send it.', [['kind', 'What', [...kinds, ['purchase', 'a purchase']]], ['name', 'Name, or product', ''], ['value', 'Value, properties, or {"price": 1, "currency": "EUR"}', '']], [['Log', (v) => [`/v1/log/${v.kind}`, about(v)]]]),
      form('Launch', 'The app starts and hands over what waits. Each press is another launch.', [['kind', 'Start', [['cold', 'cold'], ['background', 'in the background'], ['return', 'a return'], ['locked', 'before the first unlock']]]],
        [['Launch', at('launch', (v) => ({kind: v.kind}))], ['Die before the hand-over', at('launch', (v) => ({kind: v.kind, die_after: 'launched'})), true], ['Die before sending', at('launch', (v) => ({kind: v.kind, die_after: 'handed'})), true]]),
      online,
      form('Push', null, [['way', 'Expand by', [['long_press', 'long press'], ['swipe_down', 'swipe down'], ['view', 'View']]], ['button', 'Button', '']],
        [['Deliver', push('deliver')], ['Expand', push('expand', (v) => ({way: v.way}))], ['Press the button', push('act', (v) => ({button: v.button}))], ['Open', push('open')], ['Dismiss', push('dismiss')]]),
      form('App and person', null, [['user', 'Person', '']], [['Log in', at('change-user', (v) => ({user: v.user}))], ['Log out', at('log-out'), true], ['Leave the app', at('leave')], ['Force quit', push('force_quit'), true]]));
  }

  let timer = 0;
  context.on('position', () => { timer ||= setTimeout(() => { timer = 0; if (context.at === null && !context.signal.aborted) page.refresh(); }, 500); });
  context.on('store', () => act());
  context.ready.then(() => { if (!context.signal.aborted) page.refresh(); });
}
export const update = () => page.refresh(true);
export const unmount = () => page?.pause();
