// Both clocks as a plane: to the right when an event was recorded, upwards when it happened; the further below the diagonal, the later
// it came. A frame drawn over marks, or a delay, takes what came late; its events are listed.
import {button, count, fill, foreign, h, inRow, number, para} from './dom.js';
import {list} from './table.js';
import {paint, mark, line} from './marks.js';
import {fold} from './timeline.js';
import {iso} from './life.js';
import {time, late} from './time.js';

const INSET = 14, MOST = 25;
const delays = [['', 'What came late'], ['3600', 'Later than an hour'], ['86400', 'Later than a day'], ['2592000', 'Later than 30 days']];

/** Names whose newer value was there already when an event took effect, for each such event. */
function overwrites(life) {
  const effect = (i) => life.decidedBy[i] ?? life.position[i], newest = new Map(), found = new Map();
  const order = life.shape.flatMap((shape, i) => shape === 'attribute' && life.state(i) === 'effective' ? [i] : []).sort((a, b) => effect(a) - effect(b) || a - b);
  for (const i of order) for (const name of life.names[i]) {
    if (life.occurred[i] < newest.get(name)) found.set(i, [...(found.get(i) ?? []), name]); else newest.set(name, life.occurred[i]);
  }
  return found;
}
export function plane(context, {move, openCompare}) {
  let look = null, newer = null, places = null, frame = null, corner = null, shown = null, side = 400;
  const canvas = h('canvas', {class: 'plane', role: 'img', 'aria-label': 'Both clocks: to the right when it was recorded, upwards when it happened. The list beside says what came late.'});
  const delay = h('select', {'aria-label': 'How late', on: {change: () => { frame = null; context.set({late: delay.value}); }}}, delays.map(([v, text]) => h('option', {value: v}, text)));
  const found = h('div', {class: 'stack'});
  const element = h('div', {class: 'planes'}, h('div', canvas, para('small dim', '→ recorded, ↑ happened; quiet spans are cut. Drag a frame over marks to list them.')),
    h('div', {class: 'stack'}, inRow(delay, button('As it arrived, as it happened', () => openCompare('happened'))), found));

  const spot = (i) => [places[i], 1 - places[look.life.n + i]].map((v) => (INSET + v * (side - 2 * INSET)) / side);
  const redraw = paint(canvas, (c, size, _, colours) => {
    if (!places) return;
    side = size;
    const {life, k, at} = look, taken = new Set();
    c.strokeStyle = colours.edge;
    c.lineWidth = 1;
    c.strokeRect(0.5, 0.5, size - 1, size - 1);
    c.setLineDash([4, 4]);
    line(c, INSET, size - INSET, size - INSET, INSET);
    c.setLineDash([]);
    for (let i = 0; i < life.n; i++) {
      const [x, y] = spot(i).map((v) => v * size), cell = (x >> 2) * 4096 + (y >> 2);
      // One mark is enough for what lies on one spot.
      if (taken.has(cell)) continue;
      taken.add(cell);
      c.globalAlpha = i < k ? 1 : 0.4;
      mark(c, life.shape[i] === 'launch' ? 'flush' : life.shape[i], life.state(i, at), x, y, colours);
    }
    c.globalAlpha = 1;
    c.strokeStyle = colours.accent;
    c.lineWidth = 2;
    if (k) c.strokeRect(spot(k - 1)[0] * size - 9, spot(k - 1)[1] * size - 9, 18, 18);
    if (frame) c.strokeRect(...[frame[0], frame[1], frame[2] - frame[0], frame[3] - frame[1]].map((v) => v * size));
  }, context.signal);

  const pointer = (e) => { const box = canvas.getBoundingClientRect(); return [(e.clientX - box.left) / box.width, (e.clientY - box.top) / box.height]; };
  canvas.addEventListener('pointerdown', (e) => { if (!e.button) { corner = pointer(e); frame = null; canvas.setPointerCapture(e.pointerId); } });
  canvas.addEventListener('pointermove', (e) => {
    if (!corner) return;
    const [x, y] = pointer(e), [a, b] = corner;
    frame = Math.hypot(x - a, y - b) < 0.02 ? null : [Math.min(a, x), Math.min(b, y), Math.max(a, x), Math.max(b, y)];
    redraw();
  });
  canvas.addEventListener('lostpointercapture', (e) => {
    const [x, y] = corner;
    corner = null;
    if (!frame) {
      let best = 0, least = Infinity;
      for (let i = 0; i < look.life.n; i++) { const [a, b] = spot(i), d = Math.hypot(a - x, b - y); if (d < least) { least = d; best = i; } }
      move(best + 1);
    }
    showFound();
  });
  function showFound() {
    redraw();
    const {life} = look, least = Number(context.params.late) || 60;
    const isIn = (i) => { const [x, y] = spot(i); return x >= frame[0] && x <= frame[2] && y >= frame[1] && y <= frame[3]; };
    const taken = [];
    for (let i = 0; i < life.n; i++) if (frame ? isIn(i) : life.delay(i) > least) taken.push(i);
    fill(found, h('p', {role: 'status'}, `${count(taken.length, 'step')} of ${number(life.n)} ${frame ? 'in the frame' : 'came late'}; `,
        h('strong', `${taken.filter((i) => newer.has(i)).length} after a newer value`), '.'),
      taken.length ? list('What came late', ['Step', 'Happened', 'How late', 'A newer value was there'], taken.slice(0, MOST).map((i) => [
        button([`${i + 1}: `, foreign(life.what(i))], () => move(i + 1), {class: 'text'}),
        time(iso(life.occurred[i]), {form: 'clock'}), late(life.occurred[i], life.recorded[i]), foreign(newer.get(i)?.join(', ') ?? '–')])) : null,
      taken.length > MOST ? para('dim', `The first ${MOST} of ${number(taken.length)}.`) : null);
  }
  return {
    element,
    show(next) {
      const wish = context.params.late ?? '', isOther = next.life !== look?.life;
      look = next;
      if (isOther) { places = fold([...look.life.recorded, ...look.life.occurred]).x; newer = overwrites(look.life); }
      if (!isOther && shown === wish) return redraw();
      delay.value = shown = wish;
      showFound();
    },
  };
}
