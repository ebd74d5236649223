// The timeline of a life: rows of marks, a handle (A) that walks in the order of recording, a second one (B) to compare with.
// Marks, handle and pointer share one inset. The range without a thumb is what keys and screen readers hold.
import {button, dim, fill, h, inRow, para, printable, say, segments} from './dom.js';
import {line, mark, paint} from './marks.js';
import {span, timeText} from './time.js';
import {iso} from './life.js';
import {symbol} from './words.js';

const INSET = 10, ROW = 24, FOOT = 20, MOST = 8, START = 0.03;
const axes = [['step', 'Step'], ['recorded', 'Recorded'], ['happened', 'Happened'], ['both', 'Both clocks']];
const words = {message: 'sent', unsent: 'not sent', push: 'push, in-app', rules: 'rules, voids'};

/** Places between 0 and 1 of times, and their order. A span without events is cut to a twelfth of the rest, and is in `folds`. */
export function fold(times) {
  const n = times.length, order = Uint32Array.from(times, (_, i) => i).sort((a, b) => times[a] - times[b] || a - b), x = new Float64Array(n), folds = [];
  const gap = (j) => times[order[j]] - times[order[j - 1]];
  let cap = Infinity, whole = 0, place = 0;
  for (let round = 0; round < 4; round++) {
    whole = 0;
    for (let j = 1; j < n; j++) whole += Math.min(gap(j), cap);
    if (round < 3) cap = whole / 12;
  }
  for (let j = 1; j < n; j++) {
    const cut = Math.min(gap(j), cap);
    if (cut < gap(j)) folds.push({at: (place + cut / 2) / whole, seconds: gap(j) / 1000});
    x[order[j]] = (place += cut) / whole;
  }
  if (!whole) x.fill(0.5);
  return {x, order, folds};
}
function placesOf(life, axis) {
  const x = new Float64Array(life.n + 1);
  if (axis === 'step') return {x: x.map((_, k) => k / life.n), order: null, folds: []};
  const times = axis === 'happened' ? life.occurred : life.recorded, found = fold(times), shifted = (place) => START + (1 - START) * place;
  found.x.forEach((place, i) => { x[i + 1] = shifted(place); });
  return {x, order: found.order, times, folds: found.folds.map((f) => ({...f, at: shifted(f.at)}))};
}

export function timeline(context, {move, compare, toRow, nextChange, settle, pin}) {
  let life = null, view = {}, from = 0, size = 1, map = null, mapped = '', rows = [], isLong = false, held = false, isDrawn = false, wide = 0;
  const labels = h('div', {class: 'tl-labels', 'aria-hidden': 'true'}), axisChoice = h('div'), legend = para('small dim legend');
  const canvas = h('canvas', {class: 'tl-marks', role: 'img', 'aria-label': 'Marks of all steps. The list of steps below says the same as a table.'});
  const thumb = h('div', {class: 'thumb'}), thumbB = h('div', {class: 'thumb b', 'data-mark': 'B'});
  const range = h('input', {type: 'range', class: 'moment', min: '0', step: '1', 'aria-label': 'Moment', on: {input: () => move(Number(range.value))}});
  const track = h('div', {class: 'track'}, range, thumb, thumbB);
  const zoomed = [button('Zoom out', () => zoom(2)), button('All', () => zoom(0)), button('Earlier', () => look(from - size / 2, size)), button('Later', () => look(from + size / 2, size))];
  const more = button('', () => { isLong = !isLong; layout(); }), compareButton = button('', compare);
  const marks = h('div', {class: 'tl'}, labels, canvas, dim('Moment'), track);
  const element = h('div', {class: 'stack'}, h('div', {class: 'row spread'}, axisChoice, inRow(button('Zoom in', () => zoom(0.5)), zoomed)), marks,
    h('div', {class: 'row spread'}, legend, inRow(more, compareButton, button('As a table', toRow))));

  // What is in view

  const toX = (place) => INSET + (place - from) / size * (wide - 2 * INSET);
  const event = (j) => map.order ? map.order[j] : j;
  function visible() {
    const search = (value) => { let low = 0, high = life.n; while (low < high) { const m = (low + high) >> 1; if (map.x[event(m) + 1] < value) low = m + 1; else high = m; } return low; };
    return [search(from - size * 0.02), search(from + size * 1.02)];
  }
  function look(start, width) {
    size = Math.min(1, width);
    from = Math.min(1 - size, Math.max(0, start));
    for (const b of zoomed) b.disabled = size === 1;
    redraw();
  }
  function zoom(factor) {
    const width = factor ? Math.max(size * factor, Math.min(1, 8 / life.n)) : 1, centre = map.x[view.k];
    look(centre - (centre - from) / size * width, width);
    say(`${Math.round(size * 100)} % of the line is shown`);
  }
  function handles() {
    for (const [part, k] of [[thumb, view.k], [thumbB, view.b]]) {
      const x = k === null ? -1 : toX(map.x[k]);
      part.hidden = x < 0 || x > wide;
      part.style.setProperty('--x', `${x.toFixed(1)}px`);
    }
    thumb.dataset.mark = view.b === null ? '' : 'A';
  }

  function draw(c, width, _, colours) {
    if (!life?.n) return;
    wide = width;
    handles();
    const bottom = rows.length * ROW, [first, end] = visible(), selected = view.k - 1, yOf = (i) => rowOf(i) * ROW + 12;
    const pen = (colour, wide, dash = []) => { c.strokeStyle = colours[colour]; c.lineWidth = wide; c.setLineDash(dash); };
    pen('line', 1);
    rows.forEach((_, r) => line(c, 0, r * ROW + 12.5, width, r * ROW + 12.5));
    c.font = '12px system-ui, sans-serif';
    c.textBaseline = 'middle';
    c.fillStyle = colours['text-2'];
    const name = (i) => map.times ? timeText(iso(map.times[i]), 'clock') : `step ${i + 1}`, y = bottom + FOOT / 2;
    const ends = [name(event(Math.min(first, life.n - 1))), name(event(Math.max(0, end - 1)))], room = ends.map((text) => c.measureText(text).width + 12);
    c.fillText(ends[0], 0, y);
    if (room[0] + room[1] < width) c.fillText(ends[1], width - room[1] + 12, y);
    let free = room[0];
    pen('edge', 1, [1, 3]);
    for (const f of map.folds) {
      const x = toX(f.at), text = `⋯ ${span(f.seconds)}`, half = c.measureText(text).width / 2;
      if (x < 0 || x > width) continue;
      line(c, x, 0, x, bottom);
      if (x - half > free && x + half < width - room[1]) { c.fillText(text, x - half, y); free = x + half + 12; }
    }
    pen('accent', 1.25);
    if (selected >= 0) for (const [a, b] of life.links(selected)) {
      const x0 = toX(map.x[a + 1]), x1 = toX(map.x[b + 1]);
      c.beginPath();
      c.moveTo(x0, yOf(a) - 5);
      c.quadraticCurveTo((x0 + x1) / 2, Math.min(yOf(a), yOf(b)) - 26, x1, yOf(b) - 5);
      c.stroke();
    }
    const groups = rows.map(() => []);
    for (let j = first; j < end; j++) {
      const i = event(j), list = groups[rowOf(i)], x = toX(map.x[i + 1]), g = list.at(-1), alpha = view.dims?.(i) ? 0.2 : i > selected ? 0.5 : 1;
      if (g && x - g.x < 6) { g.count += 1; g.last = x; g.alpha = Math.max(g.alpha, alpha); } else list.push({x, last: x, i, count: 1, alpha});
    }
    c.font = '11px system-ui, sans-serif';
    groups.forEach((list, r) => list.forEach((g, j) => {
      c.globalAlpha = g.alpha;
      if (g.count === 1) return mark(c, life.shape[g.i], life.state(g.i, view.at), g.x, r * ROW + 12, colours);
      const tall = Math.min(22, 6 + 2.5 * Math.log2(g.count)), text = String(g.count);
      c.fillStyle = colours.effective;
      c.fillRect(g.x - 2.5, r * ROW + 12 - tall / 2, g.last - g.x + 5, tall);
      c.fillStyle = colours['text-2'];
      if ((list[j + 1]?.x ?? width) - g.last > 12 + 7 * text.length) c.fillText(text, g.last + 5, r * ROW + 12);
    }));
    c.globalAlpha = 1;
    pen('accent', 2);
    const x = toX(map.x[view.k]);
    line(c, x, 0, x, bottom);
    if (selected >= 0) c.strokeRect(x - 9, yOf(selected) - 9, 18, 18);
    pen('accent', 2, [4, 3]);
    if (view.b !== null) line(c, toX(map.x[view.b]), 0, toX(map.x[view.b]), bottom);
    c.setLineDash([]);
    if (!isDrawn) { isDrawn = true; performance.mark('timeline drawn'); }
  }
  const redraw = paint(canvas, draw, context.signal);
  context.on('clock', redraw);


  /** The step nearest to a pointer; a mark of the row that it is on comes before those of others. */
  function nearest({clientX, clientY}, part) {
    const box = part.getBoundingClientRect(), x = clientX - box.left, r = part === canvas ? Math.floor((clientY - box.top) / ROW) : -1, [first, end] = visible();
    let best = life.n, least = Infinity;
    for (let j = first; j < end; j++) {
      const i = event(j), distance = Math.abs(toX(map.x[i + 1]) - x) + (r < 0 || rowOf(i) === r ? 0 : 12);
      if (distance < least) { least = distance; best = i + 1; }
    }
    return part === track && from === 0 && x < toX(map.x[event(0) + 1]) / 2 ? 0 : best;
  }
  for (const part of [track, canvas]) part.addEventListener('pointerdown', (e) => {
    if (!life || e.button) return;
    e.preventDefault();
    range.focus({preventScroll: true});
    if (part === track) { held = true; track.setPointerCapture(e.pointerId); }
    move(nearest(e, part));
  });
  track.addEventListener('pointermove', (e) => { if (held && nearest(e, track) !== view.k) move(nearest(e, track)); });
  track.addEventListener('lostpointercapture', () => { held = false; settle(); });

  // Rows: eight at most, others by a button

  const rowOf = (i) => Math.min(life.row[i], rows.length - 1);
  function layout() {
    const all = life.rows, isShort = !isLong && all.length > MOST, rest = all.length - MOST + 1;
    rows = isShort ? [...all.slice(0, MOST - 1), `+${rest} devices`] : all;
    fill(labels, rows.map((row) => h('bdi', {class: 'tl-label'}, printable(row))));
    more.hidden = all.length <= MOST;
    more.textContent = isLong ? 'Fewer rows' : `+${rest} devices`;
    marks.style.setProperty('--tall', `${rows.length * ROW + FOOT}px`);
    redraw();
  }
  function toLaunch(direction) {
    const i = direction > 0 ? life.launches.find((l) => l + 1 > view.k) : life.launches.findLast((l) => l + 1 < view.k);
    if (i === undefined) say(`No launch ${direction > 0 ? 'after' : 'before'} this step`); else move(i + 1);
  }
  const enter = (e) => e.target === range ? toRow() : false, plus = () => zoom(0.5), minus = () => zoom(2), back = () => move(view.k - 1), on = () => move(view.k + 1);
  context.keys(element, 'Timeline', {
    ArrowLeft: ['one step back', back], ArrowRight: ['one step on', on], ArrowDown: ['', back], ArrowUp: ['', on],
    'Shift+ArrowLeft': ['the change before, of the chosen field', () => nextChange(-1)], 'Shift+ArrowRight': ['the next change of the chosen field', () => nextChange(1)],
    BracketLeft: ['the launch before', () => toLaunch(-1)], BracketRight: ['the next launch', () => toLaunch(1)],
    Home: ['before all steps', () => move(0)], End: ['the last step', () => move(life.n)], KeyN: ['now', () => move(life.n)],
    Equal: ['zoom in', plus], 'Shift+Equal': ['', plus], NumpadAdd: ['', plus], Minus: ['zoom out', minus], NumpadSubtract: ['', minus], Digit0: ['show all', () => zoom(0)],
    Enter: ['to its row in the list', enter], NumpadEnter: ['', enter], KeyC: ['compare from here (B)', compare], KeyM: ['pin this moment', pin],
  });

  return {
    element, isHeld: () => held,
    set(next) {
      life = next;
      mapped = '';
      range.max = String(life.n);
      fill(legend, [...new Set(life.shape)].map((shape) => h('span', `${symbol(shape)} ${words[shape] ?? shape}`)),
        ['hollow: waits', '×: refused', 'bar: several'].map((text) => h('span', text)));
      layout();
    },
    show(next) {
      const axis = next.axis === 'both' ? 'recorded' : next.axis;
      if (!axisChoice.firstChild) axisChoice.append(segments('Places by', axes, next.axis, (key) => context.set({axis: key === 'step' ? null : key})));
      axisChoice.querySelectorAll('button').forEach((b, i) => b.ariaPressed = axes[i][0] === next.axis);
      view = next;
      if (mapped !== axis) { mapped = axis; map = placesOf(life, axis); look(0, 1); }
      compareButton.textContent = view.b === null ? 'Compare from here (C)' : 'Stop comparing';
      range.value = String(view.k);
      range.ariaValueText = view.k ? `Step ${view.k} of ${life.n}: ${printable(life.says(view.k - 1, view.at))}` : 'Before the first step';
      const place = map.x[view.k];
      if (place < from || place > from + size) look(place - size / 2, size);
      redraw();
    },
  };
}
