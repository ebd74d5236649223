// Overview: what the store holds, how fast it grows, what waits, what was refused, whether the audit found anything.
// It must cost writers nothing: each panel asks at most once in some seconds, only while the log grows and the tab is seen.
import {copyLine, count, facts, foreign, h, list, number, para, ref, segments} from './dom.js';
import {emptyView, panel} from './panel.js';
import {span, time, timeText} from './time.js';

const TAIL = 10, quiet = {quiet: true};
const units = {minute: [60, 'the last hour, by minute', 'seconds'], hour: [48, 'the last two days, by hour', 'clock'], day: [30, 'the last 30 days', 'day']};
let place = null;

export function mount(root, context) {
  context.title('Overview');
  const {link} = context, rate = h('span', {class: 'num'}, '–'), none = (text) => h('span', {class: 'ok'}, text);
  const held = panel(context, {
    title: 'What the store holds', load: (ask) => ask.get('/v1/stats', {}, quiet).then((s) => { waiting.load(s); return s; }),
    empty: (s) => s.last_position ? null : emptyView('The store is empty.', 'It fills as programs save and log. To begin:', ...['log event jane "played song"', 'save attribute jane level=7', 'launch'].map((line) => copyLine(`profilecli ${line}`))),
    show: (s) => facts(['Events', number(s.events)], ['Recorded now', rate], ['People', ref(link('users'), number(s.users))], ['Devices', ref(link('devices'), number(s.devices))], ['File', `${number(Math.round(s.file_bytes / 1024))} KB`],
      s.clock_ahead && ['Clock', h('span', {class: 'warn'}, `was ${span(s.clock_ahead.seconds)} ahead at position `, ref(link('events', s.clock_ahead.position), number(s.clock_ahead.position)))]),
  });
  const waiting = panel(context, {
    title: 'What waits, and what was refused', load: async (_, s) => s,
    show: ({pending: p, queued, rejected: r}) => facts(['Waits for a launch', p.total ? [count(p.total, 'item'), ` on ${count(p.devices, 'device')}`] : none('nothing')],
      p.total && ['Waits since', `${span(p.waiting_s.all.median)} (half of them), at most ${span(p.waiting_s.all.longest)}`],
      ['Queued by SDKs', queued ? [count(queued, 'item'), p.waiting_s.queue?.count ? `, at most ${span(p.waiting_s.queue.longest)}` : null] : none('nothing')],
      ['Refused', r.open ? h('a', {href: link('rejected'), class: 'bad'}, `${count(r.open, 'item')} to repair`) : none('nothing open')], ['Repaired', number(r.repaired)]),
  });
  const audit = panel(context, {
    title: 'Audit', load: (ask) => ask.get('/v1/status', {}, quiet),
    empty: (s) => s.audit?.at ? null : emptyView('No audit has ended yet.', 'The service proves its answers in the background: it folds each history again, and compares.'),
    show: ({audit: a}) => [h('p', a.differences.length ? h('strong', {class: 'bad'}, count(a.differences.length, 'difference')) : none('No difference'), ` to position ${number(a.position)}.`),
      facts(['Ended', time(a.at, {form: 'full'})], ['Took', span(a.took_s)], ['People', number(a.users)], a.running && ['Now', `${number(a.running.done)} of ${number(a.running.users)}`]),
      a.differences.length ? h('ul', a.differences.slice(0, 10).map((d) => h('li', `person ${d.user_number}: `, foreign(d.place)))) : null],
  });
  const choice = (label, name, choices) => segments(label, choices, '', (key) => context.set({[name]: key === choices[0][0] ? null : key}));
  const unit = choice('Span', 'unit', [['minute', 'Hour'], ['hour', '2 days'], ['day', '30 days']]), view = choice('View', 'view', [['chart', 'Chart'], ['table', 'Table']]);
  const live = choice('Newest events', 'paused', [['live', 'Live'], ['1', 'Paused']]), bars = chart(context.signal);
  const growth = panel(context, {
    title: 'Events recorded', actions: [unit, view],
    load: async (ask) => {
      const key = units[context.params.unit] ? context.params.unit : 'minute';
      return {of: units[key], ...await ask.get('/v1/series', {of: 'events', unit: key, length: units[key][0]}, quiet)};
    },
    show: ({of: [, title, form], points}) => {
      const most = points.reduce((a, b) => b.count > a.count ? b : a), all = points.reduce((sum, p) => sum + p.count, 0);
      const sentence = all ? `${count(all, 'event')} in ${title}; at most ${number(most.count)}, at ${timeText(most.time, form)}.` : `Nothing was recorded in ${title}.`;
      return context.params.view !== 'table' ? [bars(points.map((p) => p.count), sentence), para('dim', sentence)]
        : [para('dim', sentence), list('Events recorded', ['From', 'Recorded'], points.filter((p) => p.count).reverse().map((p) => [time(p.time, {form}), count(p.count, 'event')]))];
    },
  });
  let last = null, skipped = 0;
  const tail = panel(context, {
    title: 'The newest events', actions: [live, ref(link('events'), 'All events')],
    // The words come after the first content: the page shows numbers before it tells of events.
    load: async (ask) => ({...await ask.get('/v1/events', {reverse: true, limit: TAIL}, quiet), words: await import('./words.js')}),
    empty: ({events}) => events.length ? null : emptyView('No event is recorded.', 'They appear here a second after they are recorded.'),
    show: ({events, words: {eventLink, mark, person, says}}) => {
      if (last !== null) skipped += Math.max(0, events.at(-1).position - last - 1);
      last = Math.max(last ?? 0, events[0].position);
      return [h('ol', {class: 'plain feed'}, events.map((e) => h('li', h('span', {class: 'num'}, eventLink(e.position)), time(e.recorded_at, {form: 'seconds'}),
        h('span', {class: 'cut'}, mark(e.kind), person(e.user, {number: e.user_number}), ' ', says(e))))),
      skipped ? para('dim', `${count(skipped, 'event')} came too fast to be shown here since this page was opened.`) : null];
    },
  });
  place = {update() {
    const {unit: u = 'minute', view: v = 'chart', paused} = context.params;
    unit.press(u);
    view.press(v);
    live.press(paused ?? 'live');
    growth.load();
    if (!paused || tail.data === null) tail.load();
  }};
  root.append(h('h1', {tabindex: '-1'}, 'Overview'), h('div', {class: 'panels'}, held.element, waiting.element, audit.element), growth.element, tail.element);
  held.load();
  audit.load();
  place.update();

  // Rates need no request: the frame asks once a second how far the log is.
  const atMost = (seconds, f) => { let timer = 0; return () => { timer ||= setTimeout(() => { timer = 0; if (!context.signal.aborted && !document.hidden) f(); }, seconds * 1000); }; };
  const slowly = [atMost(5, () => { held.load(); audit.load(); }), atMost(10, () => growth.load())];
  let seen = [];
  context.on('position', (position) => {
    seen.push([performance.now(), position]);
    slowly.forEach((f) => f());
    if (context.params.paused) last = null; else tail.load();
  });
  const timer = setInterval(() => {
    const now = performance.now(), then = seen.findLast(([t]) => now - t > 10_000) ?? seen[0];
    seen = seen.filter(([t]) => t >= (then?.[0] ?? 0));
    rate.textContent = seen.length > 1 && now - seen.at(-1)[0] < 10_000 ? `${number(Math.round((seen.at(-1)[1] - then[1]) / Math.max(1, (now - then[0]) / 1000) * 10) / 10)} events a second` : 'nothing for 10 seconds';
  }, 1000);
  context.signal.addEventListener('abort', () => clearInterval(timer));
}
export const update = () => place.update();

/** Bars over time; the sentence is what others read. A canvas keeps the colours with which it was drawn. */
function chart(signal) {
  const canvas = h('canvas', {class: 'chart', role: 'img'});
  let numbers = [];
  function draw() {
    const {clientWidth: width, clientHeight: height} = canvas, scale = devicePixelRatio;
    if (!width) return;
    canvas.width = width * scale;
    canvas.height = height * scale;
    const pen = canvas.getContext('2d'), most = Math.max(1, ...numbers), step = width / numbers.length;
    pen.scale(scale, scale);
    pen.fillStyle = getComputedStyle(canvas).color;
    numbers.forEach((n, i) => { const tall = n ? Math.max(1, n / most * (height - 2)) : 0; pen.fillRect(i * step, height - tall, Math.max(1, step - 1), tall); });
  }
  const sizes = new ResizeObserver(draw);
  sizes.observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw, {signal});
  signal.addEventListener('abort', () => sizes.disconnect());
  return (next, sentence) => {
    numbers = next;
    canvas.setAttribute('aria-label', sentence);
    draw();
    return canvas;
  };
}
