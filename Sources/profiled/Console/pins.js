// Pins: moments, values, events and sends that somebody keeps while they look. They stay in this tab (sessionStorage), in the
// order of pinning; the tray is below the page, and "Pins 3" in the top bar leads there.
//   pin({place: 'users', id: 'ana', params: {at: 9, field: 'level'}, at: 9, user: 'ana', sentence: 'level: …', time, value})
//     at        position of the moment or of the event: what stays of a pin in a copied link
//     place, id, params   the address (as in link()); a pin of an event: {place: 'events', id: 12}
//     user      user key; a scenario file needs it          sentence   text without values; value (JSON): copied only if asked
//     time      recorded_at of the event at `at`, if known
//   returns false if that pin was there. It says what it did to a screen reader, and shows the tray.
import {get, store, on} from './api.js';
import {$, h, fill, foreign, copyButton, count, newID, say, printable} from './dom.js';
import {link} from './router.js';
import {failureView} from './panel.js';
import {time} from './time.js';

const storageName = 'profilelog-pins';
let pins = [];
try { pins = JSON.parse(sessionStorage.getItem(storageName) ?? '[]'); } catch { /* none */ }
const mine = () => pins.filter((p) => !p.store || p.store === store.id);
const address = (p) => link(p.place, p.id, p.params);
function keep() {
  try { sessionStorage.setItem(storageName, JSON.stringify(pins)); } catch { /* for this page only */ }
  draw();
}
export function pin(p) {
  const isNew = !pins.some((q) => address(q) === address(p));
  if (isNew) { pins.push({...p, store: store.id, note: ''}); keep(); }
  say(isNew ? `Pinned: ${p.sentence}` : 'It is pinned already.');
  return isNew;
}
/** The pins of a copied link: positions, of which each is an event. */
async function fromLink() {
  const positions = /^#pins=([\d,]{1,2000})$/.exec(location.hash)?.[1].split(',').filter(Boolean).map(Number).slice(0, 100) ?? [];
  if (!positions.length) return;
  history.replaceState(history.state, '', location.pathname + location.search);
  const {says, plain} = await import('./words.js');
  for (const at of positions) {
    const {events: [e]} = await get('/v1/events', {after: at - 1, limit: 1}).catch(() => ({events: []}));
    if (e?.position === at) pin({place: 'events', id: at, at, user: e.user, sentence: plain([e.user ?? 'the store', ' ', says(e)]), time: e.recorded_at, value: e.attributes ?? e.properties ?? e.value});
  }
}
addEventListener('hashchange', fromLink);
on('store', () => draw());

async function markdown(withValues) {
  const {asCommand} = await import('./drawer.js');
  const query = (path, q) => `${path}?${new URLSearchParams(Object.entries(q).filter(([, v]) => v !== undefined))}`;
  return mine().map((p, i) => {
    const {at, user, params: {field} = {}} = p;
    const path = p.place === 'users' ? field ? query('/v1/blame', {user, field, as_of: at, log: true}) : query('/v1/profile', {user, as_of: at}) : query('/v1/events', {after: at - 1, limit: 1});
    const line = asCommand({method: 'GET', path});
    return [`${i + 1}. ${printable(p.sentence)}`, `position ${at}${p.time ? `, ${new Date(p.time).toISOString()}` : ''}`, withValues && p.value !== undefined ? `value: \`${JSON.stringify(p.value)}\`` : null,
      p.note ? `> ${p.note.replaceAll('\n', '\n   > ')}` : null, `<${new URL(address(p), location.href)}>`, line ? `\`${line}\`` : null].filter(Boolean).join('  \n   ');
  }).join('\n');
}

let tray = null, button = null;
const result = h('div', {role: 'status'});
function draw() {
  const shown = mine();
  if (!tray) {
    if (!shown.length) return;
    tray = h('section', {class: 'panel stack', 'aria-labelledby': 'pins-title', id: 'pins'});
    button = h('button', {type: 'button', on: {click: () => { tray.scrollIntoView({block: 'nearest'}); $('pins-title').focus(); }}});
    $('main').append(tray);
    $('clock').before(button);
  }
  tray.hidden = button.hidden = !shown.length;
  button.textContent = `Pins ${shown.length}`;
  const values = h('input', {type: 'checkbox', id: newID('values')});
  fill(tray, h('h2', {tabindex: '-1', id: 'pins-title'}, count(shown.length, 'pin')), h('ol', {class: 'stack'}, shown.map((p) => {
    const note = h('input', {'aria-label': `Note on: ${printable(p.sentence)}`, placeholder: 'Note', on: {input() { p.note = note.value; try { sessionStorage.setItem(storageName, JSON.stringify(pins)); } catch { /* as above */ } }}});
    note.value = p.note;
    return h('li', null, h('a', {href: address(p)}, foreign(p.sentence)), ' ', h('span', {class: 'dim'}, `position ${p.at.toLocaleString('en')} `, p.time ? time(p.time) : null), h('div', {class: 'row'}, note,
      h('button', {type: 'button', 'aria-label': `Remove the pin: ${printable(p.sentence)}`, on: {click: () => { pins = pins.filter((q) => q !== p); keep(); (mine().length ? $('pins-title') : document.querySelector('h1')).focus(); }}}, 'Remove')));
  })), h('div', {class: 'row'}, copyButton(() => markdown(values.checked), 'Copy as Markdown'), values, h('label', {for: values.id}, 'with values'),
    copyButton(() => `${new URL(link('events', null, {store: store.id?.slice(0, 8)}), location.href)}#pins=${mine().map((p) => p.at).join(',')}`, 'Copy link'),
    h('button', {type: 'button', on: {click: scenario}}, 'As scenario file'), h('button', {type: 'button', on: {click() { pins = pins.filter((p) => !mine().includes(p)); keep(); document.querySelector('h1')?.focus(); }}}, 'Remove all')),
  h('p', {class: 'dim small'}, 'Pins and notes stay in this tab. A copied link has positions only, no names and no notes.'), result);
}
async function scenario() {
  try {
    const m = await import('./scenario.js');
    const text = await m.scenario(mine());
    const file = URL.createObjectURL(new Blob([text], {type: 'application/yaml'}));
    fill(result, h('p', null, 'A scenario file, with the values of this person. ', copyButton(text, 'Copy'), ' ', h('a', {href: file, download: 'scenario.yaml'}, 'Download scenario.yaml')), h('pre', {class: 'scroll short', tabindex: '0', role: 'region', 'aria-label': 'Scenario file'}, printable(text).replaceAll('␊', '\n')));
  } catch (error) { fill(result, failureView(error)); }
}
draw();
fromLink();
