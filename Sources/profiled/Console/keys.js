// Keys of a part of the page. They work only while the part, or something in it, has focus.
//   keys(part, 'Timeline', {ArrowLeft: ['one step back', f]}, signal)   if f(event) is false, the key does what it always does
// Keys that write text do nothing in a field. `?` lists what is there; all can be switched off (WCAG 2.1.4).
import {button, facts, h, keep, kept, labelled, para} from './dom.js';

const storageName = 'profilelog-keys', parts = new Map();
let isOff = kept(storageName, 'localStorage') === 'off', dialog = null;
const isField = (e) => e.closest?.('input:not([type=range],[type=checkbox],[type=radio],[type=button]),textarea,select');
const isOurs = (event) => !event.defaultPrevented && !event.altKey && !event.ctrlKey && !event.metaKey && !event.isComposing;

export function keys(part, name, map, signal) {
  parts.set(part, {name, map});
  signal.addEventListener('abort', () => parts.delete(part));
  part.addEventListener('keydown', (event) => {
    const entry = map[(event.shiftKey ? 'Shift+' : '') + event.code];
    if (isOff || !isOurs(event) || !entry || (isField(event.target) && event.target !== part && event.code !== 'Escape')) return;
    if (entry[1](event) !== false) { event.preventDefault(); event.stopPropagation(); }
  }, {signal});
}
const names = {ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Slash: '/', Backquote: '~', BracketLeft: '[', BracketRight: ']', Comma: ',', Period: '.', 'Shift+Comma': '<', Equal: '+', Minus: '-', 'Shift+Slash': '?', Escape: 'Esc'};
const shown = (code) => names[code] ?? (code.startsWith('Shift+') ? `Shift ${shown(code.slice(6))}` : code.replace(/^(Key|Digit)/, ''));

function list() {
  if (dialog) return;
  const [label, box] = labelled('Keys are on', {type: 'checkbox', on: {change() {
    isOff = !box.checked;
    keep(storageName, isOff ? 'off' : null, 'localStorage');
  }}});
  box.checked = !isOff;
  dialog = h('dialog', {class: 'stack', 'aria-labelledby': 'keys-title', on: {close() { dialog.remove(); dialog = null; }}},
    h('h2', {id: 'keys-title', tabindex: '-1', autofocus: true}, 'Keys'), para('dim', 'A key works while its part of the page has focus.'),
    [...parts].filter(([part]) => part.isConnected).map(([, {name, map}]) => [h('h3', name), facts(...Object.entries(map).filter(([, [says]]) => says).map(([code, [says]]) => [h('kbd', shown(code)), says]))]),
    h('p', box, label), button('Close', () => dialog.close()));
  document.body.append(dialog);
  dialog.showModal();
}
export function globalKeys({toSearch, toggleRequests}) {
  parts.set(document, {name: 'Everywhere', map: {Slash: ['search'], Backquote: ['requests'], 'Shift+Slash': ['this list']}});
  document.addEventListener('keydown', (event) => {
    // What a key writes differs between keyboards: these go by the sign.
    const f = event.key === '?' ? list : isOff ? null : {'/': toSearch, '~': toggleRequests}[event.key] ?? (event.code === 'Backquote' ? toggleRequests : null);
    if (!f || !isOurs(event) || isField(event.target) || dialog) return;
    event.preventDefault();
    f();
  });
}
