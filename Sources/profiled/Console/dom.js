// Elements, made safely: text is text, there is no innerHTML and no style attribute.
//   h('button', {class: 'x', on: {click: f}, vars: {'--depth': 2}}, 'text', child, [more])   attributes may be left out
//   foreign(text)   what somebody else chose: <bdi>, control characters visible, cut after 3 lines unless {cut: false}
//   value(json)     a JSON value as monospaced foreign text
export const $ = (id) => document.getElementById(id);

export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  if (attributes?.constructor !== Object) { children.unshift(attributes); attributes = {}; }
  for (const [name, v] of Object.entries(attributes)) {
    if (v === undefined || v === null) continue;
    if (name === 'on') for (const [type, f] of Object.entries(v)) element.addEventListener(type, f);
    else if (name === 'value' && 'value' in element) element.value = v;
    else if (name === 'vars') for (const [k, x] of Object.entries(v)) element.style.setProperty(k, x);
    else if (typeof v === 'boolean') element.toggleAttribute(name, v);
    else element.setAttribute(name, v);
  }
  add(element, children);
  return element;
}
function add(element, children) {
  for (const c of children) {
    if (Array.isArray(c)) add(element, c);
    else if (c !== null && c !== undefined && c !== false) element.append(c);
  }
}
export function fill(element, ...children) {
  keepFocus(element, () => { element.replaceChildren(); add(element, children); });
  return element;
}
/** Where `change` takes away what has the focus, its like in `element` gets it, else the heading: lists are written again while they are read. */
export function keepFocus(element, change) {
  const was = document.activeElement;
  if (was === element || !element.contains(was)) return change();
  const name = (e) => e.getAttribute('href') ?? e.ariaLabel ?? e.textContent, same = name(was), all = () => [...element.querySelectorAll(was.localName)].filter((e) => name(e) === same), place = all().indexOf(was);
  change();
  if (document.activeElement === was) return;
  const heading = (element.closest('section') ?? element).querySelector('h1, h2'), next = all()[place] ?? all().at(-1) ?? heading;
  if (next && next === heading) next.tabIndex = -1;
  next?.focus({preventScroll: true});
}
/** A link or a button holds no other one: text that was cut stays cut there. */
function sole(element) {
  for (const inner of element.querySelectorAll('button')) inner.remove();
  return element;
}
export const button = (text, click, attributes) => sole(h('button', {type: 'button', ...attributes, on: {click}}, text));
export const ref = (href, ...content) => sole(h('a', {href}, content));
export const dim = (...content) => h('span', {class: 'dim'}, content), inRow = (...content) => h('div', {class: 'row'}, content), h1 = (...content) => h('h1', {tabindex: '-1'}, content);
export const para = (name, ...content) => h('p', {class: name || null}, content);
let last = 0;
export const newID = (prefix) => `${prefix}-${++last}`;
export function labelled(label, attributes, tag = 'input', ...children) {
  const field = h(tag, {id: newID('field'), autocomplete: 'off', spellcheck: 'false', ...attributes}, children);
  return [h('label', {for: field.id}, label), field];
}
export const named = (label, placeholder = label) => h('input', {'aria-label': label, placeholder, autocomplete: 'off', spellcheck: 'false'});

/** The text with control characters as their symbols, and what turns the direction of writing as [U+202E]. */
export const printable = (text) => String(text).toWellFormed()
  .replace(/[\u0000-\u001f\u007f]/g, (c) => String.fromCharCode(c === '\u007f' ? 0x2421 : 0x2400 + c.charCodeAt(0)))
  .replace(/[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
const LONG = 400;
export function foreign(text, {cut = true, class: name = null} = {}) {
  const whole = String(text ?? '');
  if (!cut || whole.length <= 120) return h('bdi', {class: name}, printable(whole));
  const short = printable(whole.slice(0, LONG)) + (whole.length > LONG ? '…' : ''), all = `show all ${number([...whole].length)} characters`;
  const bdi = h('bdi', {class: `${name ?? ''} clamp`.trim()}, short);
  const more = button(all, (event) => {
    event.stopPropagation();
    const isCut = bdi.classList.toggle('clamp');
    more.ariaExpanded = !isCut;
    bdi.textContent = isCut ? short : printable(whole);
    more.textContent = isCut ? all : 'show less';
  }, {class: 'text', 'aria-expanded': 'false'});
  return h('span', bdi, whole.length > LONG ? [' ', more] : null);
}
export const uncut = (text) => foreign(text, {cut: false});
/** A value as text: a string as it is, quoted only if it could be taken for something else. */
export const valueText = (v) => v === undefined ? '–' : typeof v !== 'string' || v === '' || v.trim() !== v
  || /^(null|true|false|-?[\d.]+(e[+-]?\d+)?|[[{"].*)$/is.test(v) ? JSON.stringify(v) : v;
export const value = (v, options) => foreign(valueText(v), {class: 'value', ...options});

/** 12,345.6, as toLocaleString('en') has it, whose first call takes 100 ms. */
export const number = (n) => String(Math.round(n * 1000) / 1000).replace(/\B(?<!\.\d*)(?=(\d{3})+(?!\d))/g, ',');
/** "1 event", "2 events", "12,345 events". */
export const count = (n, one, many = one + 's') => `${number(n)} ${n === 1 ? one : many}`;
/** Names with their values: facts(['Kind', nodes], condition && […]). */
export const facts = (...pairs) => h('dl', {class: 'facts'}, pairs.filter(Boolean).map(([name, v]) => [h('dt', name), h('dd', v)]));
/** "a, b and 3 more" of nodes. */
export const some = (all, most, view) => [all.slice(0, most).map((x, i) => [i ? ', ' : '', view(x)]), all.length > most ? ` and ${number(all.length - most)} more` : null];

export function say(text) {
  $('say').textContent = '';
  setTimeout(() => { $('say').textContent = text; }, 50);
}
/** Buttons of which one is pressed: segments('Clock', [['step', 'Step'], …], 'step', (key) => …); press(key) shows another. */
export function segments(label, choices, chosen, choose) {
  const press = (wanted) => buttons.forEach((b, i) => b.ariaPressed = choices[i][0] === wanted);
  const buttons = choices.map(([key, text]) => button(text, () => { press(key); choose(key); }));
  press(chosen);
  return Object.assign(h('div', {class: 'seg', role: 'group', 'aria-label': label}, buttons), {press});
}

/** Runs f once for the calls of a while. */
export function atMost(ms, f) { let timer = 0; return () => { timer ||= setTimeout(() => { timer = 0; f(); }, ms); }; }

/** What this tab keeps, or with 'localStorage' this browser; either may be forbidden. */
export function kept(name, area = 'sessionStorage') { try { return window[area].getItem(name); } catch { return null; } }
export function keep(name, v, area = 'sessionStorage') {
  try { if (v === null) window[area].removeItem(name); else window[area].setItem(name, v); } catch { /* for this page only */ }
}
