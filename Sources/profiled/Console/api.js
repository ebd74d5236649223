// The only place that calls fetch. Paths follow from this file's address, so a prefix of a proxy is kept.
//   get('/v1/profile', {user: 'ana', as_of: 9}, {signal})      → the parsed answer; throws a Failure
//   post('/v1/void', body, {signal, once: true})               once: with an Idempotency-Key, and then repeated up to three
//        times if no answer came; without it a write is never repeated
//   text('/openapi.json')                                       → text
//   stream('/v1/events', {query, after, onEvent, onFailure, onSkip, signal})   server-sent events; one a tab, none while hidden
//   on(type, f, signal?)   news: request, lost, back, key, reset, position, store, act, clock, wrote
// A Failure has status, code, error, remedy, retryAfter (seconds), permission, actual, place; code "no_connection" has status 0.
// A request that its signal aborted throws an AbortError: isAbort(error). Panels take care of all of this (panel.js).
export const root = new URL('../', import.meta.url);
export const home = new URL('./', import.meta.url);
const listeners = new Map();
export function on(type, f, signal) {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(f);
  const off = () => listeners.get(type).delete(f);
  signal?.addEventListener('abort', off, {once: true});
  return off;
}
export function emit(type, data) {
  for (const f of [...(listeners.get(type) ?? [])]) try { f(data); } catch (error) { console.error(error); }
}

/** What is known of the store: id, name, mode, position, permissions (null: everything), endpoints. */
export const store = {id: null, name: '', mode: '', position: null, permissions: null, endpoints: new Set(), lostSince: null, refused: false};
export const has = (endpoint) => store.endpoints.has(endpoint);
export const can = (permission) => !store.permissions || store.permissions.includes('all') || store.permissions.includes(permission);

const keyName = `profilelog-key ${root.pathname}`;
let key = null;
try { key = sessionStorage.getItem(keyName); } catch { /* no storage: for this page only */ }
export const hasKey = () => key !== null;
export function setKey(next) {
  key = next || null;
  try { if (key) sessionStorage.setItem(keyName, key); else sessionStorage.removeItem(keyName); } catch { /* as above */ }
  store.refused = false;
  emit('key');
}

export class Failure extends Error {
  constructor(status, body, headers) {
    super(body?.error ?? body?.message ?? `The service answered ${status}.`);
    Object.assign(this, {
      status, error: this.message, code: body?.code ?? `status_${status}`, remedy: body?.remedy ?? '', place: body?.place,
      actual: body?.actual, body, permission: status === 403 ? /permission ([\w.]+)/.exec(body?.remedy ?? '')?.[1] : undefined,
    });
    const after = headers?.get('Retry-After');
    this.retryAfter = after ? Math.max(1, Number(after) || (new Date(after) - Date.now()) / 1000 || 1) : status === 503 || status === 429 ? 2 : undefined;
  }
}
const noConnection = () => new Failure(0, {
  code: 'no_connection', error: 'The service does not answer.', remedy: 'The page tries again by itself. See whether profiled runs.'});
export const isAbort = (error) => error?.name === 'AbortError';

/** The last 200 requests, newest first; the same one in a row is one entry with a count. */
export const requests = [];
function record(entry) {
  const first = requests.find((r) => r.path === entry.path && r.method === entry.method && r.quiet && entry.quiet);
  if (first) { Object.assign(first, entry, {count: first.count + 1}); } else {
    requests.unshift({...entry, count: 1});
    requests.length = Math.min(requests.length, 200);
  }
  emit('request', entry);
}

/** Numbers that JavaScript cannot hold stay as they were sent. */
function parse(text) {
  if (!/[:[,]-?\d{16,}/.test(text) || !JSON.rawJSON) return JSON.parse(text);
  return JSON.parse(text, (_, v, {source}) => typeof v === 'number' && source?.length > 15 && String(v) !== source ? JSON.rawJSON(source) : v);
}
export function address(path, query) {
  const url = new URL(path.replace(/^\//, ''), root);
  for (const [name, v] of Object.entries(query ?? {})) {
    for (const x of Array.isArray(v) ? v : [v]) if (x !== null && x !== undefined) url.searchParams.append(name, String(x).toWellFormed());
  }
  return url;
}
function headers(more) {
  const all = new Headers(more);
  if (key) all.set('Authorization', `Bearer ${key}`);
  return all;
}
const shown = (url) => '/' + (url.pathname + url.search).slice(root.pathname.length);

async function ask(method, path, {query, body, signal, quiet = false, once = null, accept} = {}) {
  const url = address(path, query);
  const began = performance.now();
  const entry = {method, path: shown(url), body, quiet, status: 0, ms: 0, bytes: 0, at: new Date(), once};
  const done = (status, bytes) => record({...entry, status, bytes, ms: performance.now() - began});
  let answer, bytes;
  // Without a key the answer is known; asking would only fill the browser's console.
  if (store.needsKey && (!key || store.refused) && path.startsWith('/v1/')) throw new Failure(401, {error: 'This service needs a key.', code: 'invalid_key'});
  try {
    answer = await fetch(url, {
      method, signal, cache: 'no-store', credentials: 'same-origin',
      headers: headers({...(body !== undefined && {'Content-Type': 'application/json'}), ...(once && {'Idempotency-Key': once}), ...(accept && {Accept: accept})}),
      body: body === undefined ? undefined : JSON.stringify(body)});
    bytes = await answer.arrayBuffer();
  } catch (error) {
    if (isAbort(error) || signal?.aborted) { done('aborted', 0); throw isAbort(error) ? error : new DOMException('', 'AbortError'); }
    done('none', 0);
    lost();
    throw noConnection();
  }
  done(answer.status, bytes.byteLength);
  const text = new TextDecoder().decode(bytes);
  const isJSON = (answer.headers.get('Content-Type') ?? '').includes('json');
  if (!answer.ok) {
    let parsed = null;
    try { parsed = JSON.parse(text); } catch { /* no JSON: the status says it */ }
    if (!parsed && (answer.status === 502 || answer.status === 504)) { lost(); throw noConnection(); }
    back();
    // Keys may be revoked, or begin, while the page is open.
    if (answer.status === 401 && !store.refused) { store.needsKey = store.refused = true; emit('store'); }
    throw new Failure(answer.status, parsed, answer.headers);
  }
  back();
  if (!isJSON || accept === 'text/plain') return text;
  const result = parse(text);
  if (/^\/v1\/(events|stats)$/.test(path) && result.store) seen(result.store);
  return result;
}
export const get = (path, query, options) => ask('GET', path, {...options, query});
export const text = (path, query, options) => ask('GET', path, {...options, query, accept: 'text/plain'});
export async function post(path, body, {once = false, ...options} = {}) {
  const id = once === true ? crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` : once || null;
  for (let tries = 1; ; tries++) {
    try {
      const result = await ask('POST', path, {...options, body, once: id});
      emit('wrote', path);
      return result;
    } catch (error) {
      const unsure = error.code === 'no_connection' || error.code === 'outcome_unknown';
      if (!id || !unsure || tries === 4) throw error;
      await wait([1, 2, 5][tries - 1], options.signal);
    }
  }
}
export const wait = (seconds, signal) => new Promise((resolve, reject) => {
  const timer = setTimeout(resolve, seconds * 1000);
  signal?.addEventListener('abort', () => { clearTimeout(timer); reject(new DOMException('', 'AbortError')); }, {once: true});
});

// The store, and whether it answers

function seen(id) {
  if (store.id === id) return;
  const before = store.id;
  store.id = id;
  if (before) emit('reset'); else emit('store');
}
function lost() {
  if (store.lostSince) return;
  store.lostSince = new Date();
  emit('lost');
}
function back() {
  if (!store.lostSince) return;
  store.lostSince = null;
  emit('back');
}
/** Asks what is where, who this key is, and which store this is. */
export async function meet() {
  const what = await get('/', {}, {quiet: true});
  store.endpoints = new Set(what.endpoints.map((e) => `${e.method} ${e.path}`));
  store.name = what.store ? what.store.split('/').filter(Boolean).pop() : '';
  store.mode = what.ephemeral ? 'for tests' : '';
  store.needsKey = what.store === undefined;
  if (!store.needsKey) store.mode = store.mode ? `${store.mode}, no keys` : 'no keys';
  emit('store');
  if (store.needsKey && !hasKey()) return;
  const jobs = [get('/v1/events', {limit: 1}, {quiet: true})];
  if (has('GET /v1/key')) jobs.push(get('/v1/key', {}, {quiet: true}).then((k) => {
    store.permissions = k.permissions ?? null;
    store.mode = [typeof k.mode === 'string' ? k.mode : store.mode, k.name].filter(Boolean).join(', ');
  }));
  await Promise.allSettled(jobs);
  emit('store');
}

let pollTimer = 0, polling = null, misses = 0;
/** Asks once a second how far the log is, only while the page can be seen: 1, 2, 5, 10 s apart while nothing answers. */
export async function poll() {
  clearTimeout(pollTimer);
  polling?.abort();
  if (document.hidden) return;
  const mine = polling = new AbortController();
  let delay = 1;
  try {
    if (!store.needsKey || hasKey()) {
      const status = await get('/v1/status', {}, {quiet: true, signal: mine.signal});
      misses = 0;
      const before = store.position;
      store.position = status.last_position;
      store.status = status;
      if (before !== null && status.last_position < before) await get('/v1/events', {limit: 1}, {quiet: true});
      if (before !== status.last_position) emit('position', status.last_position);
    }
  } catch (error) {
    if (isAbort(error)) return;
    delay = error.code === 'no_connection' ? [1, 2, 5, 10][Math.min(misses++, 3)] : error.retryAfter ?? (error.status === 401 ? 60 : 5);
  }
  if (polling === mine) pollTimer = setTimeout(poll, delay * 1000);
}
document.addEventListener('visibilitychange', poll);
on('wrote', poll);
on('key', () => { meet().catch(() => {}); poll(); });

let streaming = null;
export function stream(path, {query, after, onEvent, onFailure = () => {}, signal}) {
  streaming?.abort();
  const whole = streaming = new AbortController();
  signal?.addEventListener('abort', () => whole.abort(), {once: true});
  let lastID = null, current = null, tries = 0;
  async function run() {
    if (whole.signal.aborted || document.hidden || current) return;
    const mine = current = new AbortController();
    const stop = () => mine.abort();
    whole.signal.addEventListener('abort', stop, {once: true});
    const url = address(path, {...query, ...(lastID ? {} : {after})});
    const began = performance.now();
    const entry = {method: 'GET', path: shown(url), at: new Date(), stream: true};
    let bytes = 0, status = 'none', again = 0;
    try {
      const answer = await fetch(url, {signal: mine.signal, cache: 'no-store',
        headers: headers({Accept: 'text/event-stream', ...(lastID && {'Last-Event-ID': lastID})})});
      status = answer.status;
      if (!answer.ok) throw new Failure(status, await answer.json().catch(() => null), answer.headers);
      back();
      tries = 0;
      record({...entry, status, ms: performance.now() - began, bytes});
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let rest = '';
      for (;;) {
        const {value, done} = await reader.read();
        if (done) break;
        bytes += value.length;
        const parts = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
        rest = parts.pop();
        for (const part of parts) take(part);
      }
      again = 1;
    } catch (error) {
      if (whole.signal.aborted) return;
      if (mine.signal.aborted) again = 0;
      else if (error instanceof Failure) {
        record({...entry, status, ms: performance.now() - began, bytes});
        onFailure(error);
        again = error.retryAfter ?? 0;
      } else { lost(); again = [1, 2, 5, 10][Math.min(tries++, 3)]; }
    } finally {
      whole.signal.removeEventListener('abort', stop);
      if (current === mine) current = null;
    }
    if (again) setTimeout(run, again * 1000);
  }
  function take(part) {
    let data = '', type = '';
    for (const line of part.split('\n')) {
      if (line.startsWith('data:')) data += line.slice(5).trimStart();
      else if (line.startsWith('id:')) lastID = line.slice(3).trim();
      else if (line.startsWith('event:')) type = line.slice(6).trim();
    }
    if (type === 'reset') { lastID = null; after = 0; get('/v1/events', {limit: 1}, {quiet: true}).catch(() => {}); } else if (data) onEvent(parse(data), lastID);
  }
  const seeing = () => { if (document.hidden) { current?.abort(); current = null; } else run(); };
  document.addEventListener('visibilitychange', seeing, {signal: whole.signal});
  on('key', run, whole.signal);
  run();
  return () => whole.abort();
}
