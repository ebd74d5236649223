// The drawer of requests: each with its status, time and bytes, as `curl` and as `profilecli`.
import {on, requests, root} from './api.js';
import {copyButton, quote} from './copy.js';
import {$, atMost, count, dim, fill, foreign, h, number, para} from './dom.js';
import {timeText} from './time.js';

export const asCurl = (r) => ['curl -s', r.method === 'GET' ? '' : `-X ${r.method}`, '-H "Authorization: Bearer $PROFILELOG_KEY"', r.once ? `-H ${quote(`Idempotency-Key: ${r.once}`)}` : '',
  r.stream ? "-N -H 'Accept: text/event-stream'" : '', r.body === undefined ? '' : `-d ${quote(JSON.stringify(r.body))}`, quote(new URL(r.path.slice(1), root).href)].filter(Boolean).join(' ');
// Path: the command, its words without a name, its options. A limit that a command lacks is left out.
const commands = {
  '/v1/profile': ['profile', 'user', 'as_of at_launch include_pending'], '/v1/history': ['history', 'user', 'from to reverse field device launch merged limit kind name since before'], '/v1/blame': ['blame', 'user field', 'log as_of limit after'],
  '/v1/users': ['users', '', 'after where as_of count limit prefix reverse'], '/v1/users/explain': ['users explain', 'user', 'where segment as_of'], '/v1/diff': ['diff', 'user a b', ''],
  '/v1/events': ['tail --no-follow', '', 'after kind name since before'], '/v1/pending': ['pending list', '', 'device user storage as_of'], '/v1/rejected': ['rejected', '', 'user repaired'], '/v1/stats': ['stats', '', ''], '/v1/status': ['stats --audit', '', ''],
  '/v1/rules': ['rules show', '', 'as_of'], '/v1/devices': ['device list', '', 'after limit'], '/v1/messages': ['messages list', '', ''], '/v1/messages/explain': ['messages explain', 'user', 'message position'], '/v1/series': ['stats', '', 'of length unit ending_at where'],
  '/v1/whatif': ['whatif', '', 'policy fault user device since until items'], '/v1/whatif/profiles': ['whatif', '', 'without correct where user sample seed'],
};
export function asCommand({method, path}) {
  const url = new URL(path.slice(1), root), [base] = path.split('?'), device = /^\/v1\/devices\/([^/]+)$/.exec(base), entry = device ? ['device show', '', ''] : commands[base];
  if (!entry || method !== 'GET') return null;
  const [command, words, options] = entry.map((text, i) => i ? text.split(' ') : text), query = url.searchParams;
  const parts = ['profilecli', command, device && quote(decodeURIComponent(device[1])), ...words.filter((word) => query.has(word)).map((word) => quote(query.get(word)))];
  for (const [name, v] of query) {
    if (words.includes(name)) continue;
    const option = `--${name === 'of' ? 'plot' : name.replaceAll('_', '-')}`;
    if (name === 'order') { if (v === 'occurred') parts.push('--occurred'); } else if (!options.includes(name)) { if (name !== 'limit') return null; } else if (v === 'true') parts.push(option); else if (v !== 'false') parts.push(option, quote(v));
  }
  return [...parts.filter(Boolean), '--url', quote(root.href.replace(/\/$/, ''))].join(' ');
}

let isOpen = false;
function line(r) {
  const command = asCommand(r);
  return h('li', h('span', h('code', r.method, ' ', foreign(r.path)), r.count > 1 ? dim(` × ${r.count}`) : null), h('span', {class: `num ${typeof r.status !== 'number' || r.status >= 400 ? 'bad' : ''}`}, r.stream && r.status === 200 ? 'open' : r.status),
    h('span', {class: 'num'}, `${r.ms.toFixed(1)} ms`), h('span', {class: 'num bytes'}, `${number(r.bytes)} B`),
    h('span', {class: 'row'}, dim(timeText(r.at.toISOString(), 'seconds')), copyButton(() => asCurl(r), 'Copy as curl'), command ? [copyButton(command, 'Copy as profilecli'), h('code', {class: 'wrap dim'}, command)] : dim('no command asks exactly this')));
}
function draw() {
  if (!isOpen || $('request-list').contains(document.activeElement)) return;
  fill($('request-list'), h('h2', 'Requests of this page'), para('dim', `Newest first, ${count(Math.min(requests.length, 50), 'request')}. The key is not shown: set PROFILELOG_KEY.`), h('ol', {class: 'plain'}, requests.slice(0, 50).map(line)));
}
on('request', atMost(1000, draw));
export function toggle() {
  isOpen = !isOpen;
  $('requests').ariaExpanded = isOpen;
  $('request-list').hidden = !isOpen;
  draw();
  if (isOpen) { $('request-list').tabIndex = -1; $('requests').focus(); }
}
$('drawer').addEventListener('keydown', (event) => { if (event.key === 'Escape' && isOpen) { event.preventDefault(); toggle(); $('requests').focus(); } });
