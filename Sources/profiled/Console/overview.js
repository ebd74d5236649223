// Overview. It costs writers nothing: a panel asks once in some seconds, while the log grows and the tab is seen.
import {atMost, count, facts, foreign, h, h1, number, ref} from './dom.js';
import {emptyView, panel} from './panel.js';
import {span, time} from './time.js';

const quiet = {quiet: true};
let more = null;

export function mount(root, context) {
  context.title('Overview');
  const {link} = context, rate = h('span', {class: 'num'}, '–'), none = (text) => h('span', {class: 'ok'}, text);
  const held = panel(context, {
    title: 'What the store holds', load: (ask) => ask.get('/v1/stats', {}, quiet).then((s) => { waiting.load(s); return s; }),
    empty: (s) => s.last_position ? null : emptyView('The store is empty.', 'It fills as programs save and log.'),
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
    empty: (s) => s.audit?.at ? null : emptyView('No audit has ended yet.', 'In the background the service folds each history again, and compares.'),
    show: ({audit: a}) => [h('p', a.differences.length ? h('strong', {class: 'bad'}, count(a.differences.length, 'difference')) : none('No difference'), ` to position ${number(a.position)}.`),
      facts(['Ended', time(a.at, {form: 'full'})], ['Took', span(a.took_s)], ['People', number(a.users)], a.running && ['Now', `${number(a.running.done)} of ${number(a.running.users)}`]),
      a.differences.length ? h('ul', a.differences.slice(0, 10).map((d) => h('li', `person ${d.user_number}: `, foreign(d.place)))) : null],
  });
  root.append(h1('Overview'), h('div', {class: 'panels'}, held.element, waiting.element, audit.element));
  // The rest comes after the first content.
  more = null;
  Promise.all([held.load(), audit.load()]).then(() => import('./growth.js')).then((m) => { if (!context.signal.aborted) more = m.growth(root, context); });

  // Rates need no request: the frame asks once a second how far the log is.
  const ifSeen = (f) => () => { if (!context.signal.aborted && !document.hidden) f(); };
  const slowly = [atMost(5000, ifSeen(() => { held.load(); audit.load(); })), atMost(10_000, ifSeen(() => more?.slowly()))];
  const again = atMost(5000, ifSeen(() => more?.nodes?.load()));
  let seen = context.store.position === null ? [] : [[performance.now(), context.store.position]];
  context.on('position', (position) => {
    seen.push([performance.now(), position]);
    slowly.forEach((f) => f());
    more?.news();
  });
  const timer = setInterval(() => {
    const now = performance.now(), then = seen.findLast(([t]) => now - t > 10_000) ?? seen[0];
    seen = seen.filter(([t]) => t >= (then?.[0] ?? 0));
    again();
    rate.textContent = seen.length > 1 && now - seen.at(-1)[0] < 10_000 ? `${number(Math.round((seen.at(-1)[1] - then[1]) / Math.min(10, Math.max(1, (now - then[0]) / 1000)) * 10) / 10)} events a second` : 'nothing for 10 seconds';
  }, 1000);
  context.signal.addEventListener('abort', () => clearInterval(timer));
}
export const update = () => more?.update();
