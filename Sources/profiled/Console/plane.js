// Both clocks as a plane: to the right when an event was recorded, upwards when it happened. On the diagonal is what came at once, the
// further below it the later it came. A brush (or the choice of a delay) takes what came late; its events are listed.
//   plane(context, {move, openCompare}) → {element, show({life, k, at})}
import {h, fill, foreign} from './dom.js';
import {paint, mark, line} from './marks.js';
import {fold} from './timeline.js';
import {iso} from './life.js';
import {time, late} from './time.js';

const INSET = 14, MOST = 25;
const delays = [['', 'What came late'], ['60', 'Later than a minute'], ['3600', 'Later than an hour'], ['86400', 'Later than a day'], ['2592000', 'Later than 30 days']];

export function plane(context, {move, openCompare}) {
  let look = null, shownLife = null, x = null, y = null, brush = null, drag = null;
  const canvas = h('canvas', {class: 'plane', role: 'img', 'aria-label': 'Both clocks: to the right when it was recorded, upwards when it happened. The list beside has what came late.'});
  const delay = h('select', {'aria-label': 'How late', on: {change: () => { brush = null; context.set({late: delay.value}); }}}, delays.map(([v, text]) => h('option', {value: v}, text)));
  const found = h('div', {class: 'stack'});
  const element = h('div', {class: 'planes'}, h('div', null, canvas, h('p', {class: 'small dim'}, '→ recorded, ↑ happened, both with quiet spans cut. Drag over marks to choose.')),
    h('div', {class: 'stack'}, h('div', {class: 'row'}, delay, h('button', {type: 'button', on: {click: () => openCompare('happened')}}, 'As it arrived and as it happened')), found));

  const place = (v, size) => INSET + v * (size - 2 * INSET);
  function scale() {
    const {life} = look, {n} = life;
    const all = Float64Array.from([...life.recorded, ...life.occurred]), order = Uint32Array.from(all, (_, i) => i).sort((a, b) => all[a] - all[b]);
    const {places} = fold(Float64Array.from(order, (i) => all[i]));
    x = new Float64Array(n);
    y = new Float64Array(n);
    order.forEach((i, j) => { if (i < n) x[i] = places[j]; else y[i - n] = places[j]; });
  }
  const picture = paint(canvas, (c, w, height, colours) => {
    if (!look?.life.n) return;
    const {life, k, at} = look, dot = (i) => [place(x[i], w), height - place(y[i], height)];
    c.strokeStyle = colours.edge;
    c.lineWidth = 1;
    c.strokeRect(0.5, 0.5, w - 1, height - 1);
    c.setLineDash([4, 4]);
    line(c, INSET, height - INSET, w - INSET, INSET);
    c.setLineDash([]);
    const taken = new Set();
    for (let i = 0; i < life.n; i++) {
      const [px, py] = dot(i), cell = (px >> 2) * 4096 + (py >> 2);
      // One mark is enough for what lies on one spot; the chosen one is drawn last.
      if (i !== k - 1 && taken.has(cell)) continue;
      taken.add(cell);
      c.globalAlpha = i < k ? 1 : 0.4;
      mark(c, life.shape[i] === 'launch' ? 'flush' : life.shape[i], life.state(i, at), px, py, colours);
    }
    c.globalAlpha = 1;
    c.strokeStyle = colours.accent;
    c.lineWidth = 2;
    if (k) { const [px, py] = dot(k - 1); c.strokeRect(px - 9, py - 9, 18, 18); }
    if (brush) c.strokeRect(brush.x0 * w, brush.y0 * height, (brush.x1 - brush.x0) * w, (brush.y1 - brush.y0) * height);
  }, context.signal);

  const spot = (event) => { const box = canvas.getBoundingClientRect(), in01 = (v) => Math.min(1, Math.max(0, v)); return [in01((event.clientX - box.left) / box.width), in01((event.clientY - box.top) / box.height)]; };
  canvas.addEventListener('pointerdown', (event) => { if (!event.button) { drag = spot(event); canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener('pointermove', (event) => {
    if (!drag) return;
    const [px, py] = spot(event);
    brush = {x0: Math.min(px, drag[0]), x1: Math.max(px, drag[0]), y0: Math.min(py, drag[1]), y1: Math.max(py, drag[1])};
    picture.redraw();
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!drag) return;
    drag = null;
    if (brush && (brush.x1 - brush.x0) * canvas.clientWidth < 5 && (brush.y1 - brush.y0) * canvas.clientHeight < 5) brush = null;
    if (!brush) { const near = nearest(...spot(event)); if (near >= 0) move(near + 1); }
    draw();
  });
  canvas.addEventListener('pointercancel', () => { drag = null; });
  const at01 = (i) => [place(x[i], canvas.clientWidth) / canvas.clientWidth, 1 - place(y[i], canvas.clientHeight) / canvas.clientHeight];
  function nearest(px, py) {
    let best = -1, least = Infinity;
    for (let i = 0; i < look.life.n; i++) { const [a, b] = at01(i), d = (a - px) ** 2 + (b - py) ** 2; if (d < least) { least = d; best = i; } }
    return best;
  }
  /** Names whose newer value was there already when this event took effect, for each late event. */
  function overwrites(life) {
    const order = Array.from({length: life.n}, (_, i) => i).filter((i) => life.shape[i] === 'attribute' && life.state(i) === 'effective');
    const effect = (i) => life.decidedBy[i] ?? life.position[i];
    order.sort((a, b) => effect(a) - effect(b) || a - b);
    const newest = new Map(), result = new Map();
    for (const i of order) for (const name of life.names[i]) {
      const before = newest.get(name) ?? -Infinity;
      if (life.occurred[i] < before) result.set(i, [...(result.get(i) ?? []), name]); else newest.set(name, life.occurred[i]);
    }
    return result;
  }
  function draw() {
    picture.redraw();
    const {life} = look, least = Number(context.params.late ?? 0) || 60, newer = overwrites(life), late_ = [];
    const chosen = (i) => { if (!brush) return life.delay(i) > least; const [a, b] = at01(i); return a >= brush.x0 && a <= brush.x1 && b >= brush.y0 && b <= brush.y1; };
    for (let i = 0; i < life.n; i++) if (chosen(i)) late_.push(i);
    const changed = late_.filter((i) => newer.has(i)).length;
    fill(found, h('p', {role: 'status'}, `${late_.length.toLocaleString('en')} of ${life.n.toLocaleString('en')} steps ${brush ? 'are in the frame' : 'came late'}; `, h('strong', null, `${changed.toLocaleString('en')} came after a newer value`), '.'),
      brush ? h('p', null, h('button', {type: 'button', on: {click: () => { brush = null; draw(); }}}, 'Remove the frame')) : null,
      late_.length ? h('table', {class: 'list'}, h('caption', {class: 'hide'}, 'What came late'), h('thead', null, h('tr', null, ['Step', 'Happened', 'How late', 'A newer value was there'].map((t) => h('th', {scope: 'col'}, t)))),
        h('tbody', null, late_.slice(0, MOST).map((i) => h('tr', null, h('th', {scope: 'row'}, h('button', {type: 'button', class: 'text', on: {click: () => move(i + 1)}}, `${i + 1}: `, foreign(life.what(i)))), h('td', null, time(iso(life.occurred[i]), {form: 'clock'})),
          h('td', null, late(life.occurred[i], life.recorded[i])), h('td', null, newer.has(i) ? newer.get(i).slice(0, 4).map((name, j) => [j ? ', ' : '', foreign(name)]) : '–'))))) : null,
      late_.length > MOST ? h('p', {class: 'dim'}, `The first ${MOST} of ${late_.length.toLocaleString('en')}.`) : null);
  }
  return {
    element,
    show(next) {
      const isOther = shownLife !== next.life || delay.dataset.late !== (context.params.late ?? '');
      look = next;
      if (shownLife !== next.life) { shownLife = next.life; scale(); }
      delay.value = delay.dataset.late = context.params.late ?? '';
      if (isOther) draw(); else picture.redraw();
    },
  };
}
