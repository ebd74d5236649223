// The drawer of requests: each with its status, time and bytes, as `curl` and as `profilecli`.
import {on, requests, root} from './api.js';
import {$, h, fill, foreign, copyButton} from './dom.js';
import {timeText} from './time.js';

const quote = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : /[\u0000-\u001f\u007f]/.test(text)
  ? `$'${[...text].map((c) => c < ' ' || c === '\u007f' ? `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}` : c === '\\' || c === "'" ? `\\${c}` : c).join('')}'`
  : `'${text.replaceAll("'", "'\\''")}'`;
export function asCurl(r) {
  const parts = ['curl', '-s'];
  if (r.method !== 'GET') parts.push('-X', r.method);
  parts.push('-H', '"Authorization: Bearer $PROFILELOG_KEY"');
  if (r.once) parts.push('-H', quote(`Idempotency-Key: ${r.once}`));
  if (r.stream) parts.push('-N', '-H', "'Accept: text/event-stream'");
  if (r.body !== undefined) parts.push('-d', quote(JSON.stringify(r.body)));
  return [...parts, quote(new URL(r.path.slice(1), root).href)].join(' ');
}
// path: the command, its words without a name, its options. `true` means an option without a value.
const commands = {
  '/v1/profile': ['profile', ['user'], {as_of: 'as-of', at_launch: 'at-launch', include_pending: true}],
  '/v1/history': ['history', ['user'], {from: 'from', to: 'to', reverse: true, field: 'field', device: 'device', launch: 'launch', merged: true, limit: 'limit', kind: 'kind', name: 'name', since: 'since', before: 'before'}],
  '/v1/blame': ['blame', ['user', 'field'], {log: true, as_of: 'as-of', limit: 'limit', after: 'after'}],
  '/v1/users': ['users', [], {after: 'after', where: 'where', as_of: 'as-of', count: true, limit: 'limit', prefix: 'prefix', reverse: true}],
  '/v1/users/explain': ['users explain', ['user'], {where: 'where', segment: 'segment', as_of: 'as-of'}],
  '/v1/diff': ['diff', ['user', 'a', 'b'], {}],
  '/v1/traits': ['traits', ['user'], {as_of: 'as-of'}],
  '/v1/sends': ['sends', ['user'], {message: 'message', after: 'after', limit: 'limit'}],
  '/v1/events': ['tail --no-follow', [], {after: 'after', kind: 'kind', name: 'name', since: 'since', before: 'before'}],
  '/v1/pending': ['pending list', [], {device: 'device', user: 'user', storage: 'storage', as_of: 'as-of'}],
  '/v1/rejected': ['rejected', [], {user: 'user', repaired: true}],
  '/v1/stats': ['stats', [], {}], '/v1/status': ['stats --audit', [], {}],
  '/v1/rules': ['rules show', [], {as_of: 'as-of'}],
  '/v1/devices': ['device list', [], {after: 'after', limit: 'limit'}],
  '/v1/messages': ['messages list', [], {}], '/v1/messages/explain': ['messages explain', ['user'], {message: 'message', position: 'position'}],
  '/v1/series': ['stats', [], {of: 'plot', length: 'length', unit: 'unit', ending_at: 'ending-at', where: 'where'}],
  '/v1/whatif': ['whatif', [], {policy: 'policy', fault: 'fault', user: 'user', device: 'device', since: 'since', until: 'until', items: 'items'}],
  '/v1/whatif/profiles': ['whatif', [], {without: 'without', correct: 'correct', where: 'where', user: 'user', sample: 'sample', seed: 'seed'}],
};
/** The same request by profilecli; null if no command asks exactly this. */
export function asCommand(r) {
  const url = new URL(r.path.slice(1), root);
  const device = /^\/v1\/devices\/([^/]+)$/.exec(r.path.split('?')[0]);
  const entry = device ? ['device show', [], {}] : commands[r.path.split('?')[0]];
  if (!entry || r.method !== 'GET') return null;
  const [command, words, options] = entry;
  const parts = ['profilecli', command];
  if (device) parts.push(quote(decodeURIComponent(device[1])));
  for (const word of words) if (url.searchParams.has(word)) parts.push(quote(url.searchParams.get(word)));
  for (const [name, v] of url.searchParams) {
    if (words.includes(name)) continue;
    if (name === 'order') { if (v === 'occurred') parts.push('--occurred'); continue; }
    const option = options[name];
    if (option === true) { if (v === 'true') parts.push(`--${name.replaceAll('_', '-')}`); } else if (option) parts.push(`--${option}`, quote(v)); else if (name !== 'limit') return null;
  }
  return [...parts, '--url', quote(root.href.replace(/\/$/, ''))].join(' ');
}

let open = false;
function line(r) {
  let command;
  try { command = asCommand(r); } catch { command = null; }
  return h('li', null, h('span', null, h('code', null, r.method, ' ', foreign(r.path, {cut: true})), r.count > 1 ? h('span', {class: 'dim'}, ` × ${r.count}`) : null),
    h('span', {class: `num ${typeof r.status !== 'number' || r.status >= 400 ? 'bad' : ''}`}, r.stream && r.status === 200 ? 'open' : r.status),
    h('span', {class: 'num'}, `${r.ms.toFixed(1)} ms`), h('span', {class: 'num bytes'}, `${r.bytes.toLocaleString('en')} B`),
    h('span', {class: 'row'}, h('span', {class: 'dim'}, timeText(r.at.toISOString(), 'seconds')), copyButton(() => asCurl(r), 'Copy as curl'),
      command ? copyButton(command, 'Copy as profilecli') : h('span', {class: 'dim small'}, 'no command asks exactly this'), command ? h('code', {class: 'wrap dim'}, command) : null));
}
let wanted = false;
function draw() {
  wanted = false;
  if (!open || $('request-list').contains(document.activeElement)) return;
  fill($('request-list'), h('h2', {id: 'requests-title'}, 'Requests of this page'), h('p', {class: 'dim'}, 'Newest first, at most 50. The key is not shown: set PROFILELOG_KEY.'),
    h('ol', {class: 'plain'}, requests.slice(0, 50).map(line)));
}
on('request', () => { if (open && !wanted) { wanted = true; setTimeout(draw, 1000); } });
export function toggle() {
  open = !open;
  $('requests').setAttribute('aria-expanded', String(open));
  $('request-list').hidden = !open;
  draw();
  if (open) { $('request-list').tabIndex = -1; $('request-list').scrollTop = 0; $('requests').focus(); }
}
$('drawer').addEventListener('keydown', (event) => { if (event.key === 'Escape' && open) { event.preventDefault(); toggle(); $('requests').focus(); } });
