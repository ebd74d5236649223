// Beyond reads: writes and streams.
//   post(path, body, {once: true})   with an Idempotency-Key, and then repeated if no answer came; else never
//   stream(…)   server-sent events by `fetch` (EventSource sends no key): one a tab, none while it is hidden; returns its end
import {aborted, address, ask, back, emit, Failure, get, noConnection, on, parse, pauses, record, send, shown} from './api.js';

export async function post(path, body, {once = false, ...options} = {}) {
  const id = once ? crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}` : null;
  for (let tries = 0; ; tries++) {
    try {
      const result = await ask('POST', path, {...options, body, once: id});
      emit('wrote', path);
      return result;
    } catch (error) {
      if (!id || tries === 3 || !['no_connection', 'outcome_unknown', 'outcome_pending'].includes(error.code)) throw error;
      await new Promise((resolve) => { setTimeout(resolve, [1, 2, 5][tries] * 1000); });
      if (options.signal?.aborted) throw aborted();
    }
  }
}

let streaming = null;
export function stream(path, {query, after, onEvent, onFailure, signal}) {
  streaming?.abort();
  const whole = streaming = new AbortController(), until = AbortSignal.any([whole.signal, signal]);
  let lastID = null, current = null, tries = 0;
  async function run() {
    if (until.aborted || document.hidden || current) return;
    const mine = current = new AbortController(), url = address(path, {...query, ...(lastID ? {} : {after})}), began = performance.now();
    const done = (status) => record({method: 'GET', path: shown(url), at: new Date(), stream: true, status, bytes: 0, ms: performance.now() - began});
    let again = 0;
    try {
      const answer = await send(url, {signal: AbortSignal.any([mine.signal, until]), headers: {Accept: 'text/event-stream', ...(lastID && {'Last-Event-ID': lastID})}});
      done(answer.status);
      if (!answer.ok) throw new Failure(answer.status, await answer.json().catch(() => null), answer.headers);
      back();
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let rest = ''; ;) {
        const {value, done} = await reader.read();
        if (done) break;
        const parts = (rest + value).replaceAll('\r\n', '\n').split('\n\n');
        rest = parts.pop();
        parts.forEach(take);
      }
      again = 1;
    } catch (error) {
      if (until.aborted) return;
      if (error instanceof Failure) { onFailure(error); again = error.retryAfter ?? ([401, 403].includes(error.status) ? 0 : pauses[Math.min(tries++, 3)]); } else if (!mine.signal.aborted) { noConnection(); again = pauses[Math.min(tries++, 3)]; }
    } finally { mine.abort(); if (current === mine) current = null; }
    if (again) setTimeout(run, again * 1000);
  }
  function take(part) {
    const field = (name) => part.split('\n').filter((line) => line.startsWith(`${name}:`)).map((line) => line.slice(name.length + 1).trim()).join('');
    const data = field('data'), type = field('event');
    if (type === 'error') throw new Failure(500, parse(data));
    tries = 0;
    lastID = field('id') || lastID;
    if (type === 'reset') { lastID = null; after = 0; get('/v1/events', {limit: 1}, {quiet: true}).catch(() => {}); } else if (data) onEvent(parse(data));
  }
  document.addEventListener('visibilitychange', () => { if (document.hidden) { current?.abort(); current = null; } else run(); }, {signal: until});
  on('key', run, until);
  run();
  return () => whole.abort();
}
