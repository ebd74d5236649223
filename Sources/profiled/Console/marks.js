// Marks on a canvas: shape says the kind, colour and filling say the state (docs/console-look.md).
//   mark(c, shape, state, x, y, colours)    10 px, centred       symbol('event')   the shape as text, for legends and lists
//   paint(canvas, draw)   keeps a canvas sharp and in the page's colours: draw(c, width, height, colours) is called when its size, the
//                         scheme, forced colours or the pixels of the screen change; returns {redraw, stop}. A canvas forgets none by itself.
const TAU = Math.PI * 2;
const symbols = {event: '●', attribute: '■', purchase: '◆', launch: '▮', session: '▬', flush: '╵', message: '▲', unsent: '△', push: '⬠', identity: '◎', rules: '▬'};
export const symbol = (shape) => symbols[shape] ?? '●';

function trace(c, shape, x, y) {
  c.beginPath();
  if (shape === 'attribute') c.rect(x - 4.5, y - 4.5, 9, 9);
  else if (shape === 'purchase') { c.moveTo(x, y - 6); c.lineTo(x + 6, y); c.lineTo(x, y + 6); c.lineTo(x - 6, y); c.closePath(); }
  else if (shape === 'launch') c.rect(x - 2.5, y - 12, 5, 24);
  else if (shape === 'session') c.rect(x - 5, y - 1.5, 10, 3);
  else if (shape === 'rules') c.rect(x - 5, y - 2.5, 10, 5);
  else if (shape === 'flush') c.rect(x - 1.5, y - 6, 3, 12);
  else if (shape === 'message' || shape === 'unsent') { c.moveTo(x, y - 5); c.lineTo(x + 5.5, y + 5); c.lineTo(x - 5.5, y + 5); c.closePath(); }
  else if (shape === 'push') { for (let i = 0; i < 5; i++) c.lineTo(x + 5.5 * Math.sin(i * TAU / 5), y - 5.5 * Math.cos(i * TAU / 5)); c.closePath(); }
  else c.arc(x, y, 5, 0, TAU);
}
export function mark(c, shape, state, x, y, colours) {
  const colour = colours[state === 'queued' ? 'waits' : state === 'erased' ? 'void' : state] ?? colours.effective;
  c.fillStyle = c.strokeStyle = colour;
  c.lineWidth = 1.75;
  trace(c, shape, x, y);
  if (shape === 'identity' && state === 'effective') {
    c.stroke();
    c.beginPath();
    c.arc(x, y, 1.75, 0, TAU);
    c.fill();
    return;
  }
  const isHollow = state === 'waits' || state === 'void' || state === 'erased' || state === 'queued' || shape === 'unsent';
  if (!isHollow) c.fill();
  else {
    c.fillStyle = colours.surface;
    c.fill();
    if (state === 'queued') {
      c.save();
      c.clip();
      c.fillStyle = colour;
      c.fillRect(x - 7, y, 14, 7);
      c.restore();
      trace(c, shape, x, y);
    }
    if (state === 'erased') c.setLineDash([2, 2]);
    c.stroke();
    c.setLineDash([]);
  }
  if (shape === 'unsent' || state === 'void') line(c, x - 7, y + (state === 'void' ? 0 : 6), x + 7, y - (state === 'void' ? 0 : 6));
  if (state === 'refused') {
    c.strokeStyle = colours.surface;
    c.lineWidth = 4;
    cross(c, x, y);
    c.strokeStyle = colour;
    c.lineWidth = 2;
    cross(c, x, y);
  }
}
export function line(c, x0, y0, x1, y1) { c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke(); }
function cross(c, x, y) { line(c, x - 6, y - 6, x + 6, y + 6); line(c, x - 6, y + 6, x + 6, y - 6); }

const tokens = {paper: 'Canvas', surface: 'Canvas', text: 'CanvasText', 'text-2': 'CanvasText', accent: 'Highlight', edge: 'CanvasText', line: 'GrayText',
  effective: 'CanvasText', waits: 'CanvasText', refused: 'CanvasText', void: 'GrayText'};
const isForced = matchMedia('(forced-colors: active)'), isDark = matchMedia('(prefers-color-scheme: dark)');
function pageColours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(Object.entries(tokens).map(([name, system]) => [name, isForced.matches ? system : style.getPropertyValue(`--${name}`).trim()]));
}
export function paint(canvas, draw, signal) {
  let colours = pageColours(), frame = 0, width = 0, height = 0, pixels = 0;
  const c = canvas.getContext('2d');
  function now() {
    frame = 0;
    const w = canvas.clientWidth, h = canvas.clientHeight, dpr = devicePixelRatio || 1;
    if (!w || !h) return;
    if (w !== width || h !== height || dpr !== pixels) {
      [width, height, pixels] = [w, h, dpr];
      canvas.width = Math.round(w * dpr);
      canvas.height = Math.round(h * dpr);
    }
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.clearRect(0, 0, w, h);
    draw(c, w, h, colours);
  }
  const redraw = () => { frame ||= requestAnimationFrame(now); };
  const recolour = () => { colours = pageColours(); redraw(); };
  for (const query of [isForced, isDark]) query.addEventListener('change', recolour, {signal});
  const sizes = new ResizeObserver(redraw);
  sizes.observe(canvas);
  function watchPixels() { matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', () => { redraw(); watchPixels(); }, {once: true, signal}); }
  watchPixels();
  signal?.addEventListener('abort', () => { sizes.disconnect(); cancelAnimationFrame(frame); }, {once: true});
  return {redraw, now};
}
