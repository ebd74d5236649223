// Events, newest first, and live. Events of one person, name or device come as a stream (one a tab, none while it is hidden).
// All events are asked for once a second: a page of the newest, and how many it skipped. At most 1,000 rows stay.
import {get, stream, isAbort} from './api.js';
import {count, h, fill, foreign, number, printable, segments, say} from './dom.js';
import {panel, emptyView} from './panel.js';
import {table} from './table.js';
import {time, late} from './time.js';
import {says, mark, families, kindWords, plain} from './words.js';

const PAGE = 100, KEPT = 1000;
let place = null;

export function mount(root, context) {
  context.title('Events');
  const isKnown = (kind) => families.find(([key]) => key === kind);
  const filters = () => {
    const {user, kind, name, device} = context.params;
    return {user, kind: isKnown(kind)?.[2].join(',') ?? kind, name, device};
  };
  const isFiltered = () => Object.values(filters()).some(Boolean);
  const kind = h('select', {id: 'f-kind'}, h('option', {value: ''}, 'every kind'), families.map(([key, title, kinds]) =>
    h('optgroup', {label: title}, h('option', {value: key}, `${title}: all`), kinds.map((k) => h('option', {value: k}, kindWords(k))))));
  const fields = ['user', 'name', 'device'].map((name) => [name, h('input', {id: `f-${name}`, autocomplete: 'off', spellcheck: 'false', size: 14})]);
  const form = h('form', {class: 'row', 'aria-label': 'Filter', on: {submit(event) { event.preventDefault(); apply(); }, change: apply}},
    h('label', {for: 'f-kind'}, 'Kind'), kind, fields.map(([name, f]) => [h('label', {for: f.id}, {user: 'Person', name: 'Name', device: 'Device'}[name]), f]),
    h('button', null, 'Filter'), h('button', {type: 'button', on: {click: () => context.set({user: null, kind: null, name: null, device: null}, {push: true})}}, 'Show all'));
  function apply() { context.set({kind: kind.value, ...Object.fromEntries(fields.map(([name, f]) => [name, f.value.trim()]))}); }

  let newest = 0, oldest = 0, skipped = 0, stop = null, asking = false, buffer = [];
  const note = h('p', {class: 'dim', role: 'status'});
  const rows = table({
    label: 'Events, newest first', key: (e) => e.position, open: (e) => context.go(context.link('events', e.position)), more: () => older(context.signal),
    columns: [
      {head: 'Position', width: '72px', num: true, cell: (e) => h('a', {href: context.link('events', e.position)}, number(e.position))},
      {head: 'Recorded', width: '104px', cell: (e) => time(e.recorded_at, {form: 'clock'})},
      {head: 'What happened', cell: (e) => [mark(e.kind), ' ', e.user ? foreign(e.user, {cut: false}) : e.user_number ? `person ${e.user_number}` : 'the store', ' ', says(e)]},
      {head: 'Happened', width: '136px', wide: true, cell: (e) => late(e.occurred_at, e.recorded_at)},
      {head: 'Source', width: '80px', wide: true, cell: (e) => e.source}],
  });
  /** Goes back until something is found: with a filter, answers may be empty. */
  async function older(signal) {
    for (;;) {
      if (oldest <= 1) return [];
      const {events, scanned} = await get('/v1/events', {...filters(), reverse: true, limit: PAGE, after: oldest}, {signal});
      oldest = events.length ? events.at(-1).position : Math.min(scanned, oldest - 1);
      if (events.length || signal.aborted) return events;
      note.textContent = `Looked back to position ${number(oldest)}.`;
    }
  }
  const live = segments('Newest events', [['live', 'Live'], ['paused', 'Paused']], '', (key) => context.set({paused: key === 'paused' ? 1 : null}));
  const list = panel(context, {
    title: 'Events', actions: [live],
    async load(ask) {
      stop?.();
      skipped = 0;
      buffer = [];
      const {at} = context, last = context.store.position ?? (await ask.get('/v1/status')).last_position;
      newest = Math.min(at ?? last, last);
      oldest = newest + 1;
      if (at === null || at >= last) {
        const {events, scanned} = await ask.get('/v1/events', {...filters(), reverse: true, limit: PAGE});
        newest = Math.max(newest, events[0]?.position ?? 0);
        oldest = events.at(-1)?.position ?? scanned;
        if (events.length) return {events, last};
      }
      return {events: await older(ask.signal), last};
    },
    empty: ({events, last}) => { follow(); return events.length ? null : last === 0 ? emptyView('No event is recorded.', 'They appear here a second after they are recorded.')
      : emptyView(['Nothing matches ', h('em', null, describe()), '.'], null, h('button', {type: 'button', on: {click: () => context.set({user: null, kind: null, name: null, device: null})}}, `Show all ${number(last)}`)); },
    show({events}, body) {
      if (rows.element.parentNode !== body) fill(body, rows.element);
      rows.set(events);
      said();
    },
  });
  const describe = () => Object.entries({kind: isKnown(context.params.kind)?.[1] ?? (context.params.kind && kindWords(context.params.kind)), person: context.params.user, name: context.params.name, device: context.params.device})
    .filter(([, v]) => v).map(([k, v]) => `${k}: ${printable(v)}`).join(', ');
  const said = () => { note.textContent = [isFiltered() ? `Only ${describe()}.` : '', skipped ? `${count(skipped, 'event')} came faster than this list shows, and stand between its rows.` : '', context.params.paused ? 'Paused.' : ''].filter(Boolean).join(' '); };

  function add(events) {
    if (!events.length) return;
    if (list.state === 'empty') return void list.load();
    rows.prepend(events);
    if (rows.element.scrollTop === 0 && rows.count > KEPT) { rows.trim(KEPT); oldest = rows.rows.at(-1).position; }
    said();
  }
  /** What is new in the whole log: the newest page of it. */
  async function ask() {
    if (asking) return;
    asking = true;
    try {
      const {events} = await get('/v1/events', {reverse: true, limit: PAGE}, {signal: context.signal, quiet: true});
      const fresh = events.filter((e) => e.position > newest);
      if (!fresh.length || stop || isFiltered() || context.params.paused) return;
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
      onEvent(e) { buffer.push(e); newest = e.position; if (buffer.length > 2 * PAGE) { skipped += buffer.length - PAGE; buffer.splice(0, buffer.length - PAGE); } },
      // A key that was revoked is asked for by the panel; the rest says itself, and the stream goes on.
      onFailure(failure) { if (failure.status === 401 || failure.status === 403) list.load(); else note.textContent = printable(`${failure.error} ${failure.remedy}`); }});
  }
  const timer = setInterval(() => { const events = buffer.reverse(); buffer = []; add(events); }, 1000);
  context.signal.addEventListener('abort', () => { clearInterval(timer); stop?.(); });
  context.on('position', () => { if (!stop && context.at === null && !context.params.paused && !isFiltered() && (list.state === 'shown' || list.state === 'empty')) ask(); });
  context.keys(rows.element, 'Events', {KeyM: ['pin the event', () => {
    const line = rows.element.querySelector('.cursor');
    const e = line && rows.rows[line.getAttribute('aria-rowindex') - 2];
    if (e) import('./pins.js').then((m) => m.pin({place: 'events', id: e.position, at: e.position, user: e.user, sentence: plain([e.user ?? 'the store', ' ', says(e)]), time: e.recorded_at}));
  }]});
  let shown = null;
  place = {update() {
    if (document.activeElement !== kind) kind.value = context.params.kind ?? '';
    if (kind.value !== (context.params.kind ?? '') && context.params.kind) { kind.append(h('option', {value: context.params.kind}, kindWords(context.params.kind))); kind.value = context.params.kind; }
    for (const [name, f] of fields) if (document.activeElement !== f) f.value = context.params[name] ?? '';
    live.press(context.params.paused ? 'paused' : 'live');
    const now = JSON.stringify([filters(), context.at]);
    if (now !== shown) { shown = now; list.load(); } else if (context.params.paused) { stop?.(); stop = null; said(); } else list.load();
  }};
  root.append(h('h1', {tabindex: '-1'}, 'Events'), form, list.element);
  list.element.append(note);
  place.update();
}
export const update = () => place.update();
