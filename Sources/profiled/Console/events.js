// Events, newest first and live; those of one person, name or device as a stream.
// All events: once a second a page of the newest, and how many it skipped. At most 1,000 rows stay.
import {get, isAbort, lastPosition} from './api.js';
import {button, count, fill, h, h1, labelled, number, printable, say, segments, uncut} from './dom.js';
import {emptyView, panel} from './panel.js';
import {stream} from './wire.js';
import {table} from './table.js';
import {late, time} from './time.js';
import {families, kindWords, mark, pinOf, positionColumn, says, stateOf} from './words.js';

const PAGE = 100, KEPT = 1000, none = {user: null, kind: null, name: null, device: null};
let place = null;
export function mount(root, context) {
  context.title('Events');
  const family = (kind) => families.find(([key]) => key === kind);
  const filters = () => {
    const {user, kind, name, device} = context.params;
    return {user, kind: family(kind)?.[2].join(',') ?? kind, name, device};
  };
  const isFiltered = () => Object.values(filters()).some(Boolean), {params} = context;
  const [kindLabel, kind] = labelled('Kind', {}, 'select', h('option', {value: ''}, 'every kind'), families.map(([key, title, kinds]) => h('optgroup', {label: title}, h('option', {value: key}, `${title}: all`), kinds.map((k) => h('option', {value: k}, kindWords(k))))));
  if (params.kind && ![...kind.options].some((o) => o.value === params.kind)) kind.append(h('option', {value: params.kind}, kindWords(params.kind)));
  const texts = [['user', 'Person'], ['name', 'Name'], ['device', 'Device']].map(([name, label]) => [name, ...labelled(label, {size: 14})]);
  const apply = () => context.set({kind: kind.value, ...Object.fromEntries(texts.map(([name, , field]) => [name, field.value.trim()]))});
  const form = h('form', {class: 'row', 'aria-label': 'Filter', on: {submit: apply, change: apply}}, kindLabel, kind, texts.map(([, ...nodes]) => nodes), h('button', 'Filter'), button('Show all', () => context.set(none, {push: true})));

  let newest = 0, oldest = 0, skipped = 0, stop = null, asking = false, buffer = [];
  const note = h('p', {class: 'dim', role: 'status'});
  const rows = table({
    label: 'Events, newest first', key: (e) => e.position, open: (e) => context.go(context.link('events', e.position)), more: older,
    columns: [positionColumn, {head: 'Recorded', width: '104px', cell: (e) => time(e.recorded_at, {form: 'clock'})},
      {head: 'What happened', cell: (e) => [mark(e.kind, stateOf(e)), e.user ? uncut(e.user) : e.user_number ? `person ${e.user_number}` : 'the store', ' ', says(e)]},
      {head: 'Happened', width: '136px', wide: true, cell: (e) => late(e.occurred_at, e.recorded_at)}, {head: 'Source', width: '80px', wide: true, cell: (e) => e.source}],
  });
  /** Goes back until something is found: with a filter, answers may be empty. */
  async function older(ask) {
    while (oldest > 1) {
      const {events, scanned} = await ask('/v1/events', {...filters(), reverse: true, limit: PAGE, after: oldest});
      oldest = events.length ? events.at(-1).position : Math.min(scanned, oldest - 1);
      if (events.length) return events;
      note.textContent = `Looked back to position ${number(oldest)}.`;
    }
    return [];
  }
  const live = segments('Newest events', [['live', 'Live'], ['1', 'Paused']], '', (key) => context.set({paused: key === '1' ? 1 : null}));
  const list = panel(context, {
    title: 'Events', actions: [live],
    async load(ask) {
      stop?.();
      rows.hold();
      skipped = 0;
      buffer = [];
      const {at} = context, last = await lastPosition();
      newest = Math.min(at ?? last, last);
      oldest = newest + 1;
      if (at === null || at >= last) {
        const {events, scanned} = await ask.get('/v1/events', {...filters(), reverse: true, limit: PAGE});
        newest = Math.max(newest, events[0]?.position ?? 0);
        oldest = events.at(-1)?.position ?? scanned;
        if (events.length) return {events, last};
      }
      return {events: await older(ask.get), last};
    },
    empty({events, last}) {
      follow();
      return events.length ? null : last === 0 ? emptyView('No event is recorded.', 'They appear here a second after they are recorded.')
        : emptyView(['Nothing matches ', h('em', describe()), '.'], null, button(`Show all ${number(last)}`, () => context.set(none)));
    },
    show({events}, body) {
      if (rows.element.parentNode !== body) fill(body, rows.element);
      rows.set(events);
      said();
    },
  });
  const describe = () => [['kind', family(context.params.kind)?.[1] ?? kindWords(context.params.kind ?? '')], ...texts.map(([name]) => [name, context.params[name]])].filter(([, v]) => v).map(([k, v]) => `${k}: ${printable(v)}`).join(', ');
  const said = () => { note.textContent = [isFiltered() && `Only ${describe()}.`, skipped && `${count(skipped, 'event')} came faster than this list shows: they stand between its rows.`, context.params.paused && 'Paused.'].filter(Boolean).join(' '); };

  function add(events) {
    if (!events.length) return;
    if (list.state === 'empty') return void list.load();
    // Who reads further down keeps what they read: what is too much is counted.
    if (rows.element.scrollTop > 0 && rows.count + events.length > KEPT) skipped += events.length;
    else {
      rows.prepend(events);
      if (rows.count > KEPT) { rows.trim(KEPT); oldest = rows.rows.at(-1).position; }
    }
    said();
  }
  const asksAll = () => !stop && context.at === null && !isFiltered() && !context.params.paused;
  async function ask() {
    if (asking) return;
    asking = true;
    try {
      const {events} = await get('/v1/events', {reverse: true, limit: PAGE}, {signal: context.signal, quiet: true}), fresh = events.filter((e) => e.position > newest);
      if (!fresh.length || !asksAll()) return;
      skipped += fresh.at(-1).position - newest - 1;
      newest = fresh[0].position;
      add(fresh);
    } catch (error) { if (!isAbort(error) && error.code !== 'no_connection') say(error.error); } finally { asking = false; }
  }
  function follow() {
    stop?.();
    stop = null;
    if (context.at !== null || context.params.paused || !isFiltered()) return;
    stop = stream('/v1/events', {query: filters(), after: newest, signal: context.signal,
      onEvent(e) { buffer.push(e); newest = e.position; if (buffer.length > 2 * PAGE) skipped += buffer.splice(0, buffer.length - PAGE).length; },
      // The panel asks for a key that was revoked; the rest says itself, and the stream goes on.
      onFailure(failure) { if (failure.status === 401 || failure.status === 403) list.load(); else note.textContent = printable(`${failure.error} ${failure.remedy}`); }});
  }
  const timer = setInterval(() => { const events = buffer.reverse(); buffer = []; add(events); }, 1000);
  context.signal.addEventListener('abort', () => { clearInterval(timer); stop?.(); });
  context.on('position', () => { if (asksAll() && (list.state === 'shown' || list.state === 'empty')) ask(); });
  context.keys(rows.element, 'Events', {KeyM: ['pin the event', () => { if (rows.chosen) import('./pins.js').then((m) => m.pin(pinOf(rows.chosen))); }]});
  let shown = null;
  place = {update() {
    if (document.activeElement !== kind) kind.value = context.params.kind ?? '';
    for (const [name, , field] of texts) if (document.activeElement !== field) field.value = context.params[name] ?? '';
    live.press(context.params.paused ?? 'live');
    const now = JSON.stringify([filters(), context.at]);
    if (now === shown && context.params.paused) { stop?.(); stop = null; return said(); }
    shown = now;
    list.load();
  }};
  root.append(h1('Events'), form, list.element);
  list.element.append(note);
  place.update();
}
export const update = () => place.update();
