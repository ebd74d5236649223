// Marks on a canvas: shape says the kind, colour and filling say the state (docs/console-look.md).
//   paint(canvas, draw, signal)   draw(c, width, height, colours) runs on a change of size, scheme or screen, and when asked
const circle = (r) => `M${r} 0A${r} ${r} 0 1 1-${r} 0A${r} ${r} 0 1 1 ${r} 0`;
const shapes = {event: circle(5), attribute: 'M-4.5-4.5h9v9h-9z', purchase: 'M0-6L6 0 0 6-6 0z', launch: 'M-2.5-12h5v24h-5z', session: 'M-5-1.5H5v3H-5z', flush: 'M-1.5-6h3V6h-3z', message: 'M0-5L5.5 5h-11z',
  unsent: 'M0-5L5.5 5h-11z', push: 'M0-5.5L5.2-1.7 3.2 4.4H-3.2L-5.2-1.7z', identity: circle(5), rules: 'M-5-2.5H5v5H-5z'};
const paths = new Map();
const path = (text) => paths.get(text) ?? paths.set(text, new Path2D(text)).get(text);

export function mark(c, shape, state, x, y, colours) {
  const outline = path(shapes[shape]), isHollow = state !== 'effective' && state !== 'refused' || shape === 'unsent' || shape === 'identity';
  c.translate(x, y);
  c.strokeStyle = colours[{queued: 'waits', erased: 'void'}[state] ?? state];
  c.fillStyle = isHollow ? colours.surface : c.strokeStyle;
  c.lineWidth = 1.75;
  c.fill(outline);
  c.fillStyle = c.strokeStyle;
  if (state === 'queued') { c.save(); c.clip(outline); c.fillRect(-7, 0, 14, 7); c.restore(); }
  if (state === 'erased') c.setLineDash([2, 2]);
  if (isHollow) c.stroke(outline);
  c.setLineDash([]);
  if (shape === 'identity') c.fill(path(circle(1.75)));
  if (state === 'void') c.stroke(path('M-8 0H8'));
  if (shape === 'unsent') c.stroke(path('M-7 6L7-6'));
  if (state === 'refused') for (const [colour, width] of [[colours.surface, 4], [c.strokeStyle, 2]]) {
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.stroke(path('M-6-6L6 6M-6 6L6-6'));
  }
  c.translate(-x, -y);
}
export function line(c, x0, y0, x1, y1) { c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke(); }

const tokens = {surface: 'Canvas', 'text-2': 'CanvasText', accent: 'Highlight', edge: 'CanvasText', line: 'GrayText', effective: 'CanvasText', waits: 'CanvasText', refused: 'CanvasText', void: 'GrayText'};
const isForced = matchMedia('(forced-colors: active)'), isDark = matchMedia('(prefers-color-scheme: dark)');
export function paint(canvas, draw, signal) {
  const c = canvas.getContext('2d');
  let colours = null, frame = 0, drawn = '';
  function now() {
    frame = 0;
    const w = canvas.clientWidth, h = canvas.clientHeight, dpr = devicePixelRatio || 1, size = [Math.round(w * dpr), Math.round(h * dpr)];
    drawn = w && h ? `${w} ${h}` : '';
    if (!drawn) return;
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    const style = getComputedStyle(canvas);
    colours ??= Object.fromEntries(Object.entries(tokens).map(([name, system]) => [name, isForced.matches ? system : style.getPropertyValue(`--${name}`)]));
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    c.clearRect(0, 0, w, h);
    draw(c, w, h, colours);
  }
  const redraw = () => { frame ||= requestAnimationFrame(now); };
  for (const query of [isForced, isDark]) query.addEventListener('change', () => { colours = null; redraw(); }, {signal});
  const pixels = () => { redraw(); matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener('change', pixels, {once: true, signal}); };
  pixels();
  const sizes = new ResizeObserver(() => { if (drawn !== `${canvas.clientWidth} ${canvas.clientHeight}`) redraw(); });
  sizes.observe(canvas);
  signal.addEventListener('abort', () => { sizes.disconnect(); cancelAnimationFrame(frame); });
  return redraw;
}
