// Elements, made safely: text is text, there is no innerHTML and no style attribute.
//   h('button', {class: 'x', type: 'button', on: {click: f}, 'aria-label': 'y', disabled: false}, 'text', child, [more])
//   s(...)           the same for SVG
//   foreign(text)    what somebody else chose (an ID, a name, a value): <bdi>, control characters made visible,
//                    cut after 3 lines with a button "show all N characters"; {cut: false} leaves the length alone
//   value(json)      a JSON value as monospaced foreign text
//   fill(element, ...children)   replaces the content   facts(pairs), list(label, heads, rows): a small table   number(1234) '1,234'
//   copyText(text) → whether it worked; copyButton(text or () => text, 'Copy'); copyLine('profilecli …') code with a button
export const $ = (id) => document.getElementById(id);

function make(element, attributes, children) {
  for (const [name, v] of Object.entries(attributes ?? {})) {
    if (name === 'style' || (name.startsWith('on') && name !== 'on')) throw new TypeError(`${name}: use a class, or on: {…}`);
    if (v === undefined || v === null) continue;
    if (name === 'on') for (const [type, f] of Object.entries(v)) element.addEventListener(type, f);
    else if (name === 'class') element.setAttribute('class', v);
    else if (name === 'value' && 'value' in element) element.value = v;
    else if (name === 'vars') for (const [k, x] of Object.entries(v)) element.style.setProperty(k, x);
    else if (typeof v === 'boolean' && !name.startsWith('aria-')) element.toggleAttribute(name, v);
    else element.setAttribute(name, String(v));
  }
  add(element, children);
  return element;
}
function add(element, children) {
  for (const c of children) {
    if (c === null || c === undefined || c === false || c === true) continue;
    if (Array.isArray(c)) add(element, c);
    else element.append(c instanceof Node ? c : String(c));
  }
}
export const h = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) =>
  make(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
export function fill(element, ...children) {
  element.replaceChildren();
  add(element, children);
  return element;
}

/** The text with control characters as their symbols, and what turns the direction of writing as [U+202E]. */
export function printable(text) {
  return String(text).toWellFormed().replace(/[\u0000-\u001f\u007f]/g, (c) => c === '\u007f' ? '\u2421' : String.fromCharCode(0x2400 + c.charCodeAt(0)))
    .replace(/[\u0080-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`);
}
const LONG = 400;
export function foreign(text, {cut = true, class: name} = {}) {
  const whole = String(text ?? '');
  if (!cut || whole.length <= 120) return h('bdi', {class: name}, printable(whole));
  const bdi = h('bdi', {class: `${name ?? ''} clamp`.trim()}, printable(whole.slice(0, LONG)) + (whole.length > LONG ? '…' : ''));
  if (whole.length <= LONG) return h('span', null, bdi);
  const count = [...whole].length.toLocaleString('en');
  const more = h('button', {type: 'button', class: 'text', 'aria-expanded': 'false', on: {click(event) {
    event.stopPropagation();
    const open = bdi.classList.toggle('clamp');
    more.setAttribute('aria-expanded', String(!open));
    bdi.textContent = open ? printable(whole.slice(0, LONG)) + '…' : printable(whole);
    more.textContent = open ? `show all ${count} characters` : 'show less';
  }}}, `show all ${count} characters`);
  return h('span', null, bdi, ' ', more);
}
/** A value as text: a string as it is, quoted only if it could be taken for something else. */
export function valueText(v) {
  if (typeof v === 'string') return v === '' || v.trim() !== v || /^(null|true|false|-?[\d.]+(e[+-]?\d+)?|[[{"].*)$/is.test(v) ? JSON.stringify(v) : v;
  return v === undefined ? '–' : JSON.stringify(v);
}
export const value = (v, options) => foreign(valueText(v), {class: 'value', ...options});

export const number = (n) => Number(n).toLocaleString('en');
/** Names with their values: facts(['Kind', nodes], condition && […]). */
export const facts = (...pairs) => h('dl', {class: 'facts'}, pairs.filter(Boolean).map(([name, v]) => [h('dt', null, name), h('dd', null, v)]));
/** A table of some rows: list('Changed fields', ['Field', 'Before'], [[nodes, nodes], …]). */
export const list = (label, heads, rows) => h('div', {class: 'scroll', tabindex: '0', role: 'group', 'aria-label': label}, h('table', {class: 'list'},
  h('thead', null, h('tr', null, heads.map((x) => h('th', {scope: 'col'}, x)))), h('tbody', null, rows.map((r) => h('tr', null, r.map((c) => h('td', null, c)))))));

/** "1 event", "2 events", "12,345 events". */
export const count = (n, one, many = one + 's') => `${Number(n).toLocaleString('en')} ${n === 1 ? one : many}`;

/** Says a sentence to a screen reader, once. */
export function say(text) {
  const element = $('say');
  element.textContent = '';
  setTimeout(() => { element.textContent = text; }, 50);
}
let last = 0;
export const newID = (prefix = 'e') => `${prefix}-${++last}`;

/** A group of buttons of which one is pressed: segments('Clock', [['step', 'Step'], …], 'step', (key) => …); press(key) shows another. */
export function segments(label, choices, chosen, choose) {
  const press = (wanted) => buttons.forEach((b, i) => b.setAttribute('aria-pressed', String(choices[i][0] === wanted)));
  const buttons = choices.map(([key, text]) => h('button', {type: 'button', on: {click() { press(key); choose(key); }}}, text));
  press(chosen);
  return Object.assign(h('div', {class: 'seg', role: 'group', 'aria-label': label}, buttons), {press});
}

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = h('textarea', {class: 'hide', 'aria-label': 'To copy'}, text);
    const before = document.activeElement;
    document.body.append(field);
    field.select();
    const done = document.execCommand('copy');
    field.remove();
    before?.focus();
    return done;
  }
}
export function copyButton(text, label = 'Copy', name = null) {
  const button = h('button', {type: 'button', 'aria-label': name, on: {async click() {
    const done = await copyText(await (typeof text === 'function' ? text() : text));
    button.textContent = done ? 'Copied' : 'Not copied';
    say(done ? 'Copied' : 'The browser did not allow it. Select the text and copy it.');
    setTimeout(() => { button.textContent = label; }, 1500);
  }}}, label);
  return button;
}
export const copyLine = (text) => h('span', {class: 'row'}, h('code', {class: 'wrap'}, text), copyButton(text, 'Copy', `Copy: ${text}`));
