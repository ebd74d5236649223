// The only place that calls fetch. Paths follow from this file's address, so a prefix of a proxy is kept.
//   get('/v1/profile', {user: 'ana', as_of: 9}, {signal, quiet, plain})   plain: no number in it is long; throws a Failure
//   ahead(path, query, options)   asks now for what the next get of the same takes
//   on(type, f, signal)   news: request, lost, back, key, reset, position, store, act, clock, wrote
// A Failure has status (0: no_connection), code, error, remedy, retryAfter (seconds), permission, actual, place.
import {keep, kept} from './dom.js';

export const root = new URL('../', import.meta.url), home = new URL('./', import.meta.url);
const news = new EventTarget();
export const on = (type, f, signal) => news.addEventListener(type, (event) => f(event.detail), {signal});
export const emit = (type, detail) => news.dispatchEvent(new CustomEvent(type, {detail}));

/** What is known of the store. permissions: null is everything. refused: the key is not valid any more. */
export const store = {id: null, name: '', mode: '', position: null, permissions: null, endpoints: new Set(), lostSince: null, needsKey: false, refused: false};
export const has = (endpoint) => store.endpoints.has(endpoint);
export const can = (permission) => !store.permissions || store.permissions.includes('all') || store.permissions.includes(permission);

const keyName = `profilelog-key ${root.pathname}`;
let key = kept(keyName);
export const hasKey = () => key !== null;
export function setKey(next) {
  keep(keyName, key = next);
  store.refused = false;
  emit('key');
}

export class Failure extends Error {
  constructor(status, body, headers) {
    super(body?.error ?? body?.message ?? `The service answered ${status}.`);
    const {code = `status_${status}`, remedy = '', place, actual} = body ?? {}, after = headers?.get('Retry-After');
    Object.assign(this, {status, body, code, remedy, place, actual, error: this.message, permission: status === 403 ? /permission ([\w.]+)/.exec(remedy)?.[1] : undefined,
      retryAfter: after ? Math.max(1, Number(after) || (new Date(after) - Date.now()) / 1000 || 1) : status === 503 || status === 429 ? 2 : undefined});
  }
}
export function noConnection() {
  if (!store.lostSince) { store.lostSince = new Date(); emit('lost'); }
  return new Failure(0, {code: 'no_connection', error: 'The service does not answer.', remedy: 'The page tries again by itself. See whether profiled runs.'});
}
export function back() {
  if (store.lostSince) { store.lostSince = null; emit('back'); }
}
export const isAbort = (error) => error?.name === 'AbortError';
export const aborted = () => new DOMException('', 'AbortError');

/** The last 200 requests, newest first; one that is asked again and again is one entry with a count. */
export const requests = [];
export function record(entry) {
  const same = entry.quiet && requests.find((r) => r.quiet && r.path === entry.path && r.method === entry.method);
  if (same) Object.assign(same, entry, {count: same.count + 1}); else requests.unshift({...entry, count: 1});
  requests.length = Math.min(requests.length, 200);
  emit('request', entry);
}

/** Numbers that JavaScript cannot hold stay as they were sent. */
export const parse = (text) => !/[:[,]-?\d{16,}/.test(text) || !JSON.rawJSON ? JSON.parse(text)
  : JSON.parse(text, (_, v, {source}) => typeof v === 'number' && source?.length > 15 && String(v) !== source ? JSON.rawJSON(source) : v);
export function address(path, query = {}) {
  const url = new URL(path.slice(1), root);
  for (const [name, v] of Object.entries(query)) if (v !== null && v !== undefined) url.searchParams.append(name, String(v).toWellFormed());
  return url;
}
export const send = (url, {headers, ...options}) => fetch(url, {cache: 'no-store', credentials: 'same-origin', ...options, headers: {...headers, ...(key && {Authorization: `Bearer ${key}`})}});
export const shown = (url) => '/' + (url.pathname + url.search).slice(root.pathname.length);

export async function ask(method, path, {query, body, signal, quiet = false, plain = false, once = null} = {}) {
  const url = address(path, query), began = performance.now();
  const done = (status, bytes = 0) => record({method, path: shown(url), body, quiet, once, at: new Date(), status, bytes, ms: performance.now() - began});
  // Without a key the answer is known; asking would only fill the browser's console.
  if (store.needsKey && (!key || store.refused) && path.startsWith('/v1/')) throw new Failure(401, {error: 'This service needs a key.', code: 'invalid_key'});
  const used = key;
  let answer, bytes;
  try {
    answer = await send(url, {method, signal, body: body && JSON.stringify(body), headers: {...(body && {'Content-Type': 'application/json'}), ...(once && {'Idempotency-Key': once})}});
    bytes = await answer.arrayBuffer();
  } catch {
    done(signal?.aborted ? 'aborted' : 'none');
    throw signal?.aborted ? aborted() : noConnection();
  }
  done(answer.status, bytes.byteLength);
  store.node ??= answer.headers.get('X-ProfileLog-Node');
  const text = new TextDecoder().decode(bytes);
  if (!answer.ok) {
    let parsed = null;
    try { parsed = JSON.parse(text); } catch { /* the status says it */ }
    if (!parsed && (answer.status === 502 || answer.status === 504)) throw noConnection();
    back();
    if (answer.status === 401 && used === key && !store.refused) { store.needsKey = store.refused = true; emit('store'); }
    throw new Failure(answer.status, parsed, answer.headers);
  }
  back();
  const result = plain ? JSON.parse(text) : parse(text);
  if (result.store && result.store !== store.id && (path === '/v1/events' || path === '/v1/stats')) {
    const isOther = store.id !== null;
    store.id = result.store;
    emit(isOther ? 'reset' : 'store');
  }
  return result;
}
const early = new Map();
export function ahead(path, query, options) {
  const answer = ask('GET', path, {...options, query});
  answer.catch(() => {});
  early.set(address(path, query).href, answer);
}
export function get(path, query, options) {
  const {href} = address(path, query), answer = early.get(href);
  early.delete(href);
  return answer ?? ask('GET', path, {...options, query});
}
export const lastPosition = async () => store.position ?? (await get('/v1/status')).last_position;
export async function meet() {
  const what = await get('/', {}, {quiet: true});
  store.endpoints = new Set(what.endpoints.map((e) => `${e.method} ${e.path}`));
  store.needsKey = what.store === undefined;
  store.name = what.store?.split('/').findLast(Boolean) ?? '';
  store.mode = [what.ephemeral && 'for tests', !store.needsKey && 'no keys'].filter(Boolean).join(', ');
  emit('store');
  if (store.needsKey && !key) return;
  await Promise.allSettled([get('/v1/events', {limit: 1}, {quiet: true}), get('/v1/key', {}, {quiet: true}).then((k) => {
    store.permissions = k.permissions ?? null;
    store.mode = [typeof k.mode === 'string' ? k.mode : store.mode, k.name].filter(Boolean).join(', ');
  })]);
  emit('store');
}

export const pauses = [1, 2, 5, 10];
let pollTimer = 0, polling = null, misses = 0;
/** Asks once a second how far the log is, only while the page can be seen; less often while nothing answers. */
export async function poll() {
  clearTimeout(pollTimer);
  polling?.abort();
  if (document.hidden) return;
  const mine = polling = new AbortController();
  let pause = 1;
  try {
    if (!store.needsKey || key) {
      const before = store.position, status = await get('/v1/status', {}, {quiet: true, signal: mine.signal});
      misses = 0;
      store.position = status.last_position;
      if (before !== null && store.position < before) await get('/v1/events', {limit: 1}, {quiet: true});
      if (before !== store.position) emit('position', store.position);
    }
  } catch (error) {
    if (isAbort(error)) return;
    pause = error.code === 'no_connection' ? pauses[Math.min(misses++, 3)] : error.retryAfter ?? (error.status === 401 ? 60 : 5);
  }
  if (polling === mine) pollTimer = setTimeout(poll, pause * 1000);
}
document.addEventListener('visibilitychange', poll);
on('wrote', poll);
on('key', () => { meet().catch(() => {}); poll(); });
