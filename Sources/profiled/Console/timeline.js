// The timeline of a life: rows of marks, a handle (A) that walks through them, a second one (B) to compare with.
//   const t = timeline(context, {move: (k) => …, choose: (axis) => …, compare: () => …, toRow: () => …})
//   t.element; t.set(life); t.show({k, at, b, axis, dims: (i) => boolean or null})
// A clock gives marks another place and the steps no other order: the handle always walks in the order of recording. Marks, handle
// and what a finger or mouse meets share one inset, so they never part. The range below is what keys and screen readers hold.
import {h, fill, segments, say} from './dom.js';
import {line, mark, paint, symbol} from './marks.js';
import {span, timeText} from './time.js';
import {iso} from './life.js';

const INSET = 10, ROW = 24, FOOT = 20, MOST = 8;
export const axes = [['step', 'Step'], ['recorded', 'Recorded'], ['happened', 'Happened'], ['both', 'Both clocks']];

/** Places of sorted times between 0 and 1. Spans without events are cut to a twelfth of the rest, and listed. */
export function fold(times) {
  const n = times.length, places = new Float64Array(n), folds = [];
  let cap = n ? (times[n - 1] - times[0]) / 12 : 0, whole = 0;
  for (let round = 0; round < 4; round++) {
    whole = 0;
    for (let i = 1; i < n; i++) whole += Math.min(times[i] - times[i - 1], cap);
    if (round < 3) cap = whole / 12;
  }
  let place = 0;
  for (let i = 1; i < n; i++) {
    const gap = times[i] - times[i - 1], cut = Math.min(gap, cap);
    if (gap > cap * 1.001) folds.push({at: place + cut / 2, seconds: gap / 1000});
    places[i] = place += cut;
  }
  for (let i = 0; i < n; i++) places[i] = whole ? places[i] / whole : n > 1 ? i / (n - 1) : 0.5;
  for (const f of folds) f.at /= whole;
  return {places, folds};
}
function places(life, axis) {
  const {n} = life, x = new Float64Array(n + 1);
  if (axis === 'step') {
    for (let k = 1; k <= n; k++) x[k] = k / n;
    return {x, order: null, folds: []};
  }
  const times = axis === 'happened' ? life.occurred : life.recorded;
  const order = Uint32Array.from({length: n}, (_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
  const {places: found, folds} = fold(Float64Array.from(order, (i) => times[i]));
  const start = 0.03;
  order.forEach((i, j) => { x[i + 1] = start + (1 - start) * found[j]; });
  return {x, order, folds: folds.map((f) => ({...f, at: start + (1 - start) * f.at})), times};
}

export function timeline(context, {move, choose, compare, toRow, nextChange, settle}) {
  let life = null, view = {k: 0, at: null, b: null, axis: 'step', dims: null}, from = 0, to = 1, map = null, mapped = '', groups = [], rows = [], isLong = false, held = false, isMarked = false;
  const labels = h('div', {class: 'tl-labels', 'aria-hidden': 'true'});
  const canvas = h('canvas', {class: 'tl-marks', role: 'img', 'aria-label': 'Marks of all steps. The list of events below has the same as a table.'});
  const thumb = h('div', {class: 'thumb'}), thumbB = h('div', {class: 'thumb b', hidden: true, 'data-mark': 'B'});
  const range = h('input', {type: 'range', class: 'moment', min: '0', max: '0', step: '1', 'aria-label': 'Moment', on: {input: () => move(Number(range.value))}});
  const track = h('div', {class: 'track'}, range, thumb, thumbB);
  const button = (text, f, name) => h('button', {type: 'button', 'aria-label': name, on: {click: f}}, text);
  const axisChoice = h('div'), legend = h('p', {class: 'small dim legend'}), more = button('', () => { isLong = !isLong; layout(); });
  const bButton = button('Compare from here (B)', compare);
  const zoomed = [button('Zoom out', () => zoom(2)), button('All', () => zoom(0)), button('Earlier', () => pan(-0.5)), button('Later', () => pan(0.5))];
  const marks = h('div', {class: 'tl'}, labels, canvas, h('span', {class: 'dim'}, 'Moment'), track);
  const element = h('div', {class: 'timeline stack'}, h('div', {class: 'row spread'}, axisChoice, h('div', {class: 'row'}, button('Zoom in', () => zoom(0.5)), zoomed)), marks,
    h('div', {class: 'row spread'}, legend, h('div', {class: 'row'}, more, bButton, button('As a table', toRow, 'As a table: to this step in the list of events'))));

  // Places

  const unplace = (x, width) => from + (x - INSET) / (width - 2 * INSET) * (to - from);
  const toX = (place, width) => INSET + (place - from) / (to - from) * (width - 2 * INSET);
  const placeOf = (k) => map.x[k];
  /** The visible part of the events in the order of their places, as [first, end). */
  function visible() {
    const at = (j) => map.x[(map.order ? map.order[j] : j) + 1];
    const search = (value) => { let low = 0, high = life.n; while (low < high) { const m = (low + high) >> 1; if (at(m) < value) low = m + 1; else high = m; } return low; };
    const edge = (to - from) * 0.02;
    return [search(from - edge), search(to + edge)];
  }
  function zoom(factor) {
    const width = factor === 0 ? 1 : Math.min(1, Math.max((to - from) * factor, Math.min(1, 8 / (life?.n || 1))));
    const centre = placeOf(view.k), share = width < 1 ? Math.min(0.9, Math.max(0.1, (centre - from) / (to - from))) : 0;
    from = Math.min(1 - width, Math.max(0, centre - share * width));
    to = from + width;
    moved();
    say(width === 1 ? 'All steps are shown' : `${Math.round(width * 100)} % of the line is shown`);
  }
  function pan(share) {
    const width = to - from;
    from = Math.min(1 - width, Math.max(0, from + share * width));
    to = from + width;
    moved();
  }
  function moved() {
    for (const b of zoomed) b.disabled = to - from >= 1;
    picture.redraw();
    handles();
  }
  function handles() {
    if (!life) return;
    const width = canvas.clientWidth, put = (part, k) => {
      const x = toX(placeOf(k), width);
      part.hidden = x < 0 || x > width;
      part.style.setProperty('--x', `${x.toFixed(1)}px`);
    };
    put(thumb, view.k);
    if (view.b === null) thumbB.hidden = true; else put(thumbB, view.b);
    thumb.dataset.mark = view.b === null ? '' : 'A';
  }

  // Drawing

  const isBar = (g) => g.count > 1;
  function draw(c, width, height, colours) {
    if (!life) return;
    handles();
    const bottom = rows.length * ROW;
    c.strokeStyle = colours.line;
    c.lineWidth = 1;
    rows.forEach((_, r) => line(c, 0, r * ROW + 12.5, width, r * ROW + 12.5));
    foot(c, width, bottom, colours);
    const [first, end] = visible(), open = new Array(rows.length), selected = view.k - 1;
    groups = rows.map(() => []);
    for (let j = first; j < end; j++) {
      const i = map.order ? map.order[j] : j, r = rowOf[life.row[i]], x = toX(map.x[i + 1], width);
      const g = open[r], isFuture = i >= view.k, isDim = view.dims !== null && view.dims(i);
      if (g && x - g.x < 6) {
        g.count += 1;
        g.last = x;
        if (!isFuture) g.isFuture = false;
        if (!isDim) g.isDim = false;
        if (i === selected) g.isSelected = true;
      } else groups[r].push(open[r] = {x, last: x, i, count: 1, isFuture, isDim, isSelected: i === selected});
    }
    const spot = view.k ? {x: toX(placeOf(view.k), width), y: rowOf[life.row[selected]] * ROW + 12} : null;
    // One chosen event has its lines; those of all would be fog.
    if (selected >= 0) {
      c.strokeStyle = colours.accent;
      c.lineWidth = 1.25;
      for (const [a, b] of life.links(selected)) {
        const x0 = toX(map.x[a + 1], width), x1 = toX(map.x[b + 1], width), y0 = rowOf[life.row[a]] * ROW + 12, y1 = rowOf[life.row[b]] * ROW + 12;
        c.beginPath();
        c.moveTo(x0, y0 - 5);
        c.quadraticCurveTo((x0 + x1) / 2, Math.min(y0, y1) - 26, x1, y1 - 5);
        c.stroke();
      }
    }
    c.font = '11px system-ui, sans-serif';
    c.textAlign = 'left';
    c.textBaseline = 'middle';
    groups.forEach((list, r) => list.forEach((g, j) => {
      const y = r * ROW + 12;
      c.globalAlpha = g.isDim ? 0.2 : g.isFuture ? 0.5 : 1;
      if (!isBar(g)) mark(c, life.shape[g.i], life.state(g.i, view.at), g.x, y, colours);
      else {
        const tall = Math.min(22, 6 + 2.5 * Math.log2(g.count)), text = String(g.count), room = (list[j + 1]?.x ?? width) - g.last;
        c.fillStyle = colours.effective;
        c.fillRect(g.x - 2.5, y - tall / 2, Math.max(5, g.last - g.x + 5), tall);
        if (room > 12 + 7 * text.length) { c.fillStyle = colours['text-2']; c.fillText(text, g.last + 5, y); }
      }
    }));
    if (!isMarked) { isMarked = true; performance.mark('timeline drawn'); }
    c.globalAlpha = 1;
    c.strokeStyle = colours.accent;
    c.lineWidth = 2;
    const atX = toX(placeOf(view.k), width);
    c.globalAlpha = 0.7;
    line(c, atX, 0, atX, bottom);
    c.globalAlpha = 1;
    if (spot) c.strokeRect(spot.x - 9, spot.y - 9, 18, 18);
    if (view.b !== null) {
      c.setLineDash([4, 3]);
      const x = toX(placeOf(view.b), width);
      line(c, x, 0, x, bottom);
      c.setLineDash([]);
    }
  }
  /** Where the line begins and ends, and the quiet spans that were folded. */
  function foot(c, width, top, colours) {
    const y = top + FOOT / 2;
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.fillStyle = colours['text-2'];
    const name = (place) => {
      const [first, end] = visible(), j = place ? end - 1 : first, i = map.order ? map.order[Math.min(j, life.n - 1)] : Math.min(j, life.n - 1);
      return map.times ? timeText(iso(map.times[i]), 'clock') : `step ${i + 1}`;
    };
    if (!life.n) return;
    const left = name(0), right = name(1), leftEnd = c.measureText(left).width + 12, rightStart = width - c.measureText(right).width - 12;
    c.textAlign = 'left';
    c.fillText(left, 0, y);
    if (rightStart > leftEnd) { c.textAlign = 'right'; c.fillText(right, width, y); }
    c.textAlign = 'center';
    let free = leftEnd;
    for (const f of map.folds) {
      const x = toX(f.at, width), text = `⋯ ${span(f.seconds)}`, half = c.measureText(text).width / 2;
      if (x < 0 || x > width) continue;
      c.strokeStyle = colours.edge;
      c.lineWidth = 1;
      c.setLineDash([1, 3]);
      line(c, x, 0, x, top);
      c.setLineDash([]);
      if (x - half < free || x + half > rightStart) continue;
      c.fillText(text, x, y);
      free = x + half + 12;
    }
  }
  const picture = paint(canvas, draw, context.signal);
  context.on('clock', picture.redraw);

  // Pointers

  function nearest(x, y = null) {
    const width = canvas.clientWidth, place = unplace(x, width), [first, end] = visible();
    const r = y === null ? -1 : Math.floor(y / ROW);
    let best = -1, least = Infinity;
    for (let j = first; j < end; j++) {
      const i = map.order ? map.order[j] : j, distance = Math.abs(map.x[i + 1] - place) + (r >= 0 && rowOf[life.row[i]] !== r ? 12 / width * (to - from) : 0);
      if (distance < least || distance === least && i < view.k) { least = distance; best = i; }
    }
    return y === null && place < map.x[best + 1] / 2 && view.axis !== 'happened' && from === 0 && best === 0 ? 0 : best + 1;
  }
  const inside = (event, part) => { const box = part.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  track.addEventListener('pointerdown', (event) => {
    if (!life || event.button) return;
    event.preventDefault();
    range.focus({preventScroll: true});
    track.setPointerCapture(event.pointerId);
    held = true;
    move(nearest(inside(event, track)[0]));
  });
  track.addEventListener('pointermove', (event) => { if (track.hasPointerCapture(event.pointerId)) { const k = nearest(inside(event, track)[0]); if (k !== view.k) move(k); } });
  track.addEventListener('lostpointercapture', () => { held = false; settle(); });
  let grab = null;
  canvas.addEventListener('pointerdown', (event) => { if (life && !event.button) { grab = {x: event.clientX, last: event.clientX, isDrag: false}; canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener('pointermove', (event) => {
    if (!grab) return;
    if (Math.abs(event.clientX - grab.x) > 4) grab.isDrag = true;
    if (grab.isDrag && to - from < 1) pan((grab.last - event.clientX) / canvas.clientWidth);
    grab.last = event.clientX;
  });
  canvas.addEventListener('pointerup', (event) => { if (grab && !grab.isDrag) { move(nearest(...inside(event, canvas))); range.focus({preventScroll: true}); } grab = null; });
  canvas.addEventListener('pointercancel', () => { grab = null; });
  canvas.addEventListener('wheel', (event) => {
    if (!life || !event.ctrlKey) return;
    event.preventDefault();
    zoom(event.deltaY > 0 ? 1.25 : 0.8);
  }, {passive: false});

  // Rows: eight at most, more by a button

  let rowOf = [];
  function layout() {
    const all = life.rows, isShort = !isLong && all.length > MOST;
    const kept = isShort ? all.slice(0, MOST - 1) : all;
    rows = isShort ? [...kept, {label: `+${all.length - kept.length} more`}] : kept;
    rowOf = all.map((_, i) => Math.min(i, rows.length - 1));
    fill(labels, rows.map((row) => h('div', {class: 'tl-label'}, h('bdi', null, row.label))));
    more.hidden = all.length <= MOST;
    more.textContent = isLong ? 'Fewer rows' : `+${all.length - kept.length} more rows`;
    marks.style.setProperty('--tall', `${rows.length * ROW + FOOT}px`);
    picture.redraw();
  }
  function chart() {
    const axis = view.axis === 'both' ? 'recorded' : view.axis, wanted = `${axis} ${life.n}`;
    if (mapped === wanted) return;
    if (mapped.split(' ')[0] !== axis) [from, to] = [0, 1];
    mapped = wanted;
    map = places(life, axis);
    moved();
  }
  const enter = (event) => event.target.tagName === 'BUTTON' ? false : toRow();
  context.keys(element, 'Timeline', {
    ArrowLeft: ['one step back', () => move(view.k - 1)], ArrowRight: ['one step on', () => move(view.k + 1)],
    ArrowDown: ['', () => move(view.k - 1)], ArrowUp: ['', () => move(view.k + 1)],
    'Shift+ArrowLeft': ['the change before, of the chosen field', () => nextChange(-1)], 'Shift+ArrowRight': ['the next change of the chosen field', () => nextChange(1)],
    BracketLeft: ['the launch before', () => toLaunch(-1)], BracketRight: ['the next launch', () => toLaunch(1)],
    Home: ['before all steps', () => move(0)], End: ['the last step', () => move(life.n)], KeyN: ['now', () => move(life.n)],
    Equal: ['zoom in', () => zoom(0.5)], 'Shift+Equal': ['', () => zoom(0.5)], NumpadAdd: ['', () => zoom(0.5)], Minus: ['zoom out', () => zoom(2)], NumpadSubtract: ['', () => zoom(2)],
    Digit0: ['show all', () => zoom(0)], Enter: ['to its row in the list', enter], NumpadEnter: ['', enter], KeyC: ['compare from here (B)', () => compare()],
  });
  function toLaunch(direction) {
    const found = direction > 0 ? life.launches.find((i) => i + 1 > view.k) : life.launches.findLast((i) => i + 1 < view.k);
    if (found === undefined) say(direction > 0 ? 'No launch after this step' : 'No launch before this step'); else move(found + 1);
  }

  return {
    element, isHeld: () => held,
    set(next) {
      life = next;
      range.max = String(life.n);
      const used = [...new Set(life.shape)];
      const words = {event: 'event', attribute: 'attribute', purchase: 'purchase', launch: 'launch', session: 'session', flush: 'flush', message: 'sent', unsent: 'not sent', push: 'push, in-app', identity: 'identity', rules: 'rules, voids'};
      fill(legend, used.map((shape) => h('span', null, `${symbol(shape)} ${words[shape]}`)), h('span', null, 'hollow: waits'), h('span', null, '×: refused'), h('span', null, 'bar: several'));
      mapped = '';
      layout();
    },
    show(next) {
      const isNewAxis = next.axis !== view.axis;
      view = next;
      if (!axisChoice.firstChild) fill(axisChoice, segments('Places by', axes, view.axis, choose));
      else if (isNewAxis) axisChoice.querySelectorAll('button').forEach((b, i) => b.setAttribute('aria-pressed', String(axes[i][0] === view.axis)));
      chart();
      bButton.textContent = view.b === null ? 'Compare from here (B)' : 'Stop comparing';
      range.value = String(view.k);
      range.setAttribute('aria-valuetext', view.k ? `Step ${view.k} of ${life.n}: ${life.says(view.k - 1, view.at)}` : 'Before the first step');
      const place = placeOf(view.k), width = to - from;
      if (place < from || place > to) { from = Math.min(1 - width, Math.max(0, place - width / 2)); to = from + width; moved(); }
      handles();
      picture.redraw();
    },
  };
}
