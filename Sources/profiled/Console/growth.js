// Below the overview: nodes if an answer named one, events by minute, hour or day, the newest ones.
import {store} from './api.js';
import {copyLine} from './copy.js';
import {count, foreign, h, number, para, ref, segments} from './dom.js';
import {paint} from './marks.js';
import {emptyView, panel} from './panel.js';
import {list} from './table.js';
import {span, time, timeText} from './time.js';
import {eventLink, mark, person, says} from './words.js';

const quiet = {quiet: true};
const units = {minute: [60, 'the last hour, by minute', 'seconds'], hour: [48, 'the last two days, by hour', 'clock'], day: [30, 'the last 30 days', 'day']};

export function growth(root, context) {
  const choice = (label, name, choices) => segments(label, choices, '', (key) => context.set({[name]: key === choices[0][0] ? null : key}));
  const unit = choice('Span', 'unit', [['minute', 'Hour'], ['hour', '2 days'], ['day', '30 days']]), view = choice('View', 'view', [['chart', 'Chart'], ['table', 'Table']]);
  const live = choice('Newest events', 'paused', [['live', 'Live'], ['1', 'Paused']]), bars = chart(context.signal);
  const recorded = panel(context, {
    title: 'Events recorded', actions: [unit, view],
    load: async (ask) => {
      const key = units[context.params.unit] ? context.params.unit : 'minute';
      return {...await ask.get('/v1/series', {of: 'events', unit: key, length: units[key][0]}, quiet), shown: units[key]};
    },
    show: ({shown: [, title, form], points}) => {
      const most = points.reduce((a, b) => b.count > a.count ? b : a), all = points.reduce((sum, p) => sum + p.count, 0);
      const sentence = all ? `${count(all, 'event')} in ${title}; at most ${number(most.count)}, at ${timeText(most.time, form)}.` : `Nothing was recorded in ${title}.`;
      return context.params.view !== 'table' ? [bars(points.map((p) => p.count), sentence), para('dim', sentence)]
        : [para('dim', sentence), list('Events recorded', ['From', 'Recorded'], points.filter((p) => p.count).reverse().map((p) => [time(p.time, {form}), count(p.count, 'event')]))];
    },
  });
  const nodes = store.node && panel(context, {
    title: 'Cluster', load: (ask) => ask.get('/v1/cluster', {}, quiet),
    show: (c) => [list('Nodes', ['Node', 'Position', 'Broker', 'State'], c.nodes.map((n) => {
      const bad = n.age_s > 3 ? `no word for ${span(n.age_s)}` : n.refusal;
      return [foreign(n.name), number(n.position), foreign(n.broker ?? 'none'), bad ? h('span', {class: 'bad'}, bad) : n.is_writer ? 'writes' : 'ready'];
    })), para('dim', 'Lag of ', foreign(c.node.name), `: ${c.lag_s === null ? 'not known' : span(c.lag_s)}`),
    ...[c.refusal, ...c.warnings ?? []].filter(Boolean).map((w) => para(w === c.refusal ? 'bad' : 'dim', foreign(`${w.error} ${w.remedy}`, {cut: false})))],
  });
  let last = null, skipped = 0;
  const tail = panel(context, {
    title: 'The newest events', actions: [live, ref(context.link('events'), 'All events')],
    load: (ask) => ask.get('/v1/events', {reverse: true, limit: 10}, quiet),
    empty: ({events}) => events.length ? null : emptyView('No event is recorded.', 'They appear here a second after they are recorded. To begin:', ...['log event jane "played song"', 'save attribute jane level=7', 'launch'].map((line) => copyLine(`profilecli ${line}`))),
    show: ({events}) => {
      if (last !== null) skipped += Math.max(0, events.at(-1).position - last - 1);
      last = Math.max(last ?? 0, events[0].position);
      return [h('ol', {class: 'plain feed'}, events.map((e) => h('li', h('span', {class: 'num'}, eventLink(e.position)), time(e.recorded_at, {form: 'seconds'}),
        h('span', {class: 'cut'}, mark(e.kind), person(e.user, {number: e.user_number}), ' ', says(e))))),
      skipped ? para('dim', `${count(skipped, 'event')} came too fast to be shown here.`) : null];
    },
  });
  let busy = null, again = null;
  function follow() {
    again = busy;
    busy ??= tail.load().then(() => { busy = null; if (again) follow(); });
  }
  function update() {
    const {unit: u = 'minute', view: v = 'chart', paused} = context.params;
    unit.press(u);
    view.press(v);
    live.press(paused ?? 'live');
    recorded.load();
    if (!paused || tail.data === null) tail.load();
  }
  root.append(...[nodes, recorded, tail].filter(Boolean).map((p) => p.element));
  update();
  nodes?.load();
  return {update, nodes, slowly: () => recorded.load(), news() { if (context.params.paused) last = null; else follow(); }};
}

function chart(signal) {
  const canvas = h('canvas', {class: 'chart', role: 'img'});
  let numbers = [];
  const redraw = paint(canvas, (pen, width, height, colours) => {
    const most = Math.max(1, ...numbers), step = width / numbers.length;
    pen.fillStyle = colours.effective;
    numbers.forEach((n, i) => { const tall = n ? Math.max(1, n / most * (height - 2)) : 0; pen.fillRect(i * step, height - tall, Math.max(1, step - 1), tall); });
  }, signal);
  return (next, sentence) => {
    numbers = next;
    canvas.ariaLabel = sentence;
    redraw();
    return canvas;
  };
}
