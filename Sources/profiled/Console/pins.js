// Pins: moments, values, events and sends that somebody keeps in this tab, in the order of pinning. The tray is below
// the page; "Pins 3" in the top bar leads there.
//   pin({place: 'users', id: 'ana', params: {at: 9, field: 'level'}, at: 9, user: 'ana', sentence: 'level: …', time, value})
//     at   what stays of a pin in a copied link      sentence   without values; `value` is copied only if asked
import {get, on, store} from './api.js';
import {copyButton} from './copy.js';
import {$, button, count, dim, fill, foreign, h, inRow, keep, kept, labelled, number, para, printable, ref, say} from './dom.js';
import {failureView} from './panel.js';
import {link} from './router.js';
import {time} from './time.js';
import {pinOf} from './words.js';

const storageName = 'profilelog-pins';
let file = null, pins = JSON.parse(kept(storageName) ?? '[]'), tray = null, opener = null;
const mine = () => pins.filter((p) => !p.store || p.store === store.id), address = (p) => link(p.place, p.id, p.params);
const save = () => keep(storageName, JSON.stringify(pins));
function set(next) { pins = next; save(); draw(); }
export function pin(p) {
  const isNew = !pins.some((q) => address(q) === address(p));
  if (isNew) set([...pins, {...p, store: store.id, note: ''}]);
  say(isNew ? `Pinned: ${p.sentence}` : 'It is pinned already.');
}
let linked = [], isReading = false;
function fromLink() {
  linked = /^#pins=([\d,]{1,2000})$/.exec(location.hash)?.[1].split(',').filter(Boolean).map(Number).slice(0, 100) ?? linked;
  read();
}
/** What did not come stays in the address, and is asked for again with a key or a connection. */
async function read() {
  if (isReading || !linked.length) return;
  isReading = true;
  try {
    for (; linked.length; linked = linked.slice(1)) {
      const [at] = linked, {events: [e]} = await get('/v1/events', {after: at - 1, limit: 1});
      if (e?.position === at) pin(pinOf(e));
    }
    if (location.hash.startsWith('#pins=')) history.replaceState(history.state, '', location.pathname + location.search);
  } catch { /* as said above */ } finally { isReading = false; }
}
async function markdown(withValues) {
  const {asCommand} = await import('./drawer.js');
  return mine().map((p, i) => {
    const {at, user, params: {field} = {}} = p, [path, query] = p.place !== 'users' ? ['events', {after: at - 1, limit: 1}] : field ? ['blame', {user, field: field.replace(/^user /, ''), as_of: p.params.at, log: true}] : ['profile', {user, as_of: at}];
    const line = asCommand({method: 'GET', path: `/v1/${path}?${new URLSearchParams(Object.entries(query).filter(([, v]) => v !== undefined))}`});
    return [`${i + 1}. ${printable(p.sentence)}`, `position ${at}${p.time ? `, ${new Date(p.time).toISOString()}` : ''}`, withValues && p.value !== undefined ? `value: \`${JSON.stringify(p.value)}\`` : null,
      p.note ? `> ${p.note}` : null, `<${new URL(address(p), location.href)}>`, line ? `\`${line}\`` : null].filter(Boolean).join('  \n   ');
  }).join('\n');
}
const result = h('div', {role: 'status'});
function draw() {
  const shown = mine();
  if (!tray) {
    if (!shown.length) return;
    tray = h('section', {class: 'panel stack', 'aria-labelledby': 'pins-title'});
    opener = button('', () => { tray.scrollIntoView({block: 'nearest'}); $('pins-title').focus(); });
    $('main').append(tray);
    $('clock').before(opener);
  }
  tray.hidden = opener.hidden = !shown.length;
  opener.textContent = `Pins ${shown.length}`;
  const [label, values] = labelled('with values', {type: 'checkbox'});
  fill(tray, h('h2', {tabindex: '-1', id: 'pins-title'}, count(shown.length, 'pin')), h('ol', {class: 'stack'}, shown.map((p) => {
    const note = h('input', {'aria-label': `Note on: ${printable(p.sentence)}`, placeholder: 'Note', value: p.note, on: {input() { p.note = note.value; save(); }}});
    return h('li', ref(address(p), foreign(p.sentence)), ' ', dim(`position ${number(p.at)} `, p.time ? time(p.time) : null), inRow(note,
      button('Remove', () => { set(pins.filter((q) => q !== p)); (mine().length ? $('pins-title') : document.querySelector('h1')).focus(); }, {'aria-label': `Remove the pin: ${printable(p.sentence)}`})));
  })), inRow(copyButton(() => markdown(values.checked), 'Copy as Markdown'), values, label,
    copyButton(() => `${location.href.split('#')[0]}#pins=${mine().map((p) => p.at).join(',')}`, 'Copy link'),
    button('As scenario file', scenario), button('Remove all', () => { set(pins.filter((p) => !shown.includes(p))); document.querySelector('h1')?.focus(); })),
  para('dim small', 'Pins and notes stay in this tab. A copied link is this page’s address with their positions.'), result);
}
async function scenario() {
  try {
    const text = await (await import('./scenario.js')).scenario(mine());
    URL.revokeObjectURL(file);
    file = URL.createObjectURL(new Blob([text], {type: 'application/yaml'}));
    fill(result, h('p', 'A scenario file, with the values of this person. ', copyButton(text, 'Copy'), ' ', h('a', {href: file, download: 'scenario.yaml'}, 'Download scenario.yaml')),
      h('pre', {class: 'scroll short', tabindex: '0', role: 'region', 'aria-label': 'Scenario file'}, printable(text).replaceAll('␊', '\n')));
  } catch (error) { fill(result, failureView(error)); }
}
addEventListener('hashchange', fromLink);
on('store', draw);
for (const news of ['key', 'back']) on(news, read);
draw();
fromLink();
