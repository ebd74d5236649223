// Keys of a part of the page. They work only while the part, or something in it, has focus.
//   keys(part, 'Timeline', {ArrowLeft: ['one step back', f], 'Shift+ArrowRight': ['next change', f], KeyN: ['now', f]}, signal)
// Names are those of KeyboardEvent.code. f(event) may return false: then the key does what it does without us.
// Keys that write text do nothing in a field. `?` lists what is there; all can be switched off (WCAG 2.1.4).
import {h} from './dom.js';

const storageName = 'profilelog-keys';
let off = false;
try { off = localStorage.getItem(storageName) === 'off'; } catch { /* no storage */ }
const parts = new Map();
const isField = (e) => e.closest?.('input:not([type=range],[type=checkbox],[type=radio],[type=button]),textarea,select,[contenteditable]');

export function keys(part, name, map, signal) {
  parts.set(part, {name, map});
  signal?.addEventListener('abort', () => parts.delete(part), {once: true});
  part.addEventListener('keydown', (event) => {
    if (off || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.isComposing) return;
    const code = (event.shiftKey ? 'Shift+' : '') + event.code;
    const entry = map[code];
    if (!entry || (isField(event.target) && event.target !== part && event.code !== 'Escape')) return;
    if (entry[1](event) !== false) { event.preventDefault(); event.stopPropagation(); }
  }, {signal});
}
const names = {ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Slash: '/', Backquote: '~', BracketLeft: '[', BracketRight: ']', Comma: ',', 'Shift+Comma': '<', IntlBackslash: '<', Equal: '+', Minus: '-', 'Shift+Slash': '?', 'Shift+Equal': '+', Escape: 'Esc'};
const shown = (code) => names[code] ?? (code.startsWith('Shift+') ? `Shift ${shown(code.slice(6))}` : code.replace(/^(Key|Digit|Numpad)/, ''));

let dialog = null;
function list() {
  if (dialog) return;
  const box = h('input', {type: 'checkbox', id: 'keys-on', on: {change() {
    off = !box.checked;
    try { if (off) localStorage.setItem(storageName, 'off'); else localStorage.removeItem(storageName); } catch { /* no storage */ }
  }}});
  box.checked = !off;
  const seen = new Set();
  const sections = [...parts].filter(([part]) => part === document || part.isConnected).map(([, {name, map}]) => {
    const lines = Object.entries(map).filter(([, [says]]) => says && !seen.has(name + says) && seen.add(name + says));
    return [h('h3', null, name), h('dl', {class: 'facts'}, lines.map(([code, [says]]) => [h('dt', null, h('kbd', null, shown(code))), h('dd', null, says)]))];
  });
  dialog = h('dialog', {class: 'stack', 'aria-labelledby': 'keys-title', on: {close() { dialog.remove(); dialog = null; }}},
    h('h2', {id: 'keys-title'}, 'Keys'), h('p', {class: 'dim'}, 'A key works while its part of the page has focus.'), sections,
    h('p', null, box, h('label', {for: 'keys-on'}, 'Keys are on')), h('button', {type: 'button', on: {click: () => dialog.close()}}, 'Close'));
  document.body.append(dialog);
  dialog.showModal();
}
export const listKeys = list;

/** Keys of the whole page: search, requests, the list of keys. */
export function globalKeys({toSearch, toggleRequests}) {
  const map = {Slash: ['search', toSearch], Backquote: ['requests', toggleRequests], 'Shift+Slash': ['this list', list]};
  parts.set(document, {name: 'Everywhere', map});
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.isComposing || isField(event.target) || dialog) return;
    if (event.key === '?') { event.preventDefault(); return list(); }
    if (off) return;
    if (event.code === 'Slash' && !event.shiftKey || event.key === '/') { event.preventDefault(); toSearch(); } else if (event.code === 'Backquote' || event.key === '~') { event.preventDefault(); toggleRequests(); }
  });
}
