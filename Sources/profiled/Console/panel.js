// One panel with one request (or several) and its states: empty, loading, shown, stale, refused, failed.
//   const p = panel(context, {
//     title: 'Profile',                    a text or nodes; level: 2 (h2) or 3
//     actions: [nodes],                    at the right of the title
//     load: (ask, ...args) => ask.get('/v1/profile', {user}),   ask.get, ask.post, ask.text: as in api.js, with this load's signal
//     show: (data, body) => nodes,         or nothing, if it changed `body` itself
//     empty: (data) => nodes or null,      what would be here, why it is not, one thing to do: emptyView(…)
//   });
//   root.append(p.element); p.load(...args);   a newer load aborts the older one; p.state, p.data, p.body, p.setTitle(text)
// A panel loads again by itself when the connection is back, when a key was given, and after Retry-After.
import {get, post, text, isAbort, on, setKey, store} from './api.js';
import {h, fill, newID, printable} from './dom.js';
import {timeText} from './time.js';

export function panel(context, {title, level = 2, actions = [], load, show, empty = () => null, class: name = ''}) {
  const id = newID('panel');
  const heading = h(`h${level}`, {id}, title);
  const note = h('div', {class: 'note'}), body = h('div', {class: 'body'});
  const element = h('section', {class: `panel ${name}`.trim(), 'aria-labelledby': id, 'data-state': 'empty'},
    h('header', null, heading, actions.length ? h('div', {class: 'row'}, actions) : null), note, body);
  let running = null, args = [], timer = 0;
  const p = {
    element, body, data: null, state: 'empty', shownAt: null, setTitle: (t) => fill(heading, t), setActions: (list) => {
      element.querySelector('header > .row')?.remove();
      if (list.length) element.firstChild.append(h('div', {class: 'row'}, list));
    },
    async load(...next) {
      args = next;
      running?.abort();
      clearInterval(timer);
      const mine = running = new AbortController();
      const {signal} = mine;
      const abort = () => mine.abort();
      context.signal.addEventListener('abort', abort, {once: true});
      const slow = setTimeout(() => {
        if (running !== mine) return;
        set('loading');
        element.setAttribute('aria-busy', 'true');
        if (p.data === null) fill(note, h('p', {class: 'dim'}, 'Loading…'));
      }, 150);
      const ask = {
        signal, get: (path, query, o) => get(path, query, {signal, ...o}), text: (path, query, o) => text(path, query, {signal, ...o}),
        post: (path, data, o) => post(path, data, {signal, ...o}),
      };
      try {
        const data = await load(ask, ...args);
        if (running !== mine || context.signal.aborted) return;
        p.data = data;
        p.shownAt = new Date();
        fill(note);
        const nothing = empty(data);
        const made = nothing ?? show(data, body);
        if (made !== undefined) fill(body, made);
        set(nothing ? 'empty' : 'shown');
      } catch (error) {
        if (isAbort(error) || running !== mine || context.signal.aborted) return;
        fail(error);
      } finally {
        clearTimeout(slow);
        context.signal.removeEventListener('abort', abort);
        if (running === mine) { running = null; element.removeAttribute('aria-busy'); }
      }
    },
    reload: () => p.load(...args),
  };
  function set(state) {
    p.state = state;
    element.dataset.state = state;
  }
  function fail(error) {
    if (error.code === 'no_connection' && p.data !== null) {
      set('stale');
      fill(note, h('p', {class: 'warn'}, `No answer; this is of ${timeText(p.shownAt.toISOString(), 'seconds')}.`));
      return;
    }
    set(error.status === 401 || error.status === 403 ? 'refused' : 'failed');
    if (error.status !== 429 && error.status !== 503 && error.status !== 401) { p.data = null; fill(body); }
    fill(note, failureView(error, p.reload, context.signal));
  }
  on('back', () => { if (p.state === 'stale' || p.state === 'failed') p.reload(); }, context.signal);
  on('key', () => { if (p.state === 'refused' || p.state === 'failed') p.reload(); }, context.signal);
  return p;
}

/** What went wrong, in the service's words, with the next step. `again` is for reads: it may be called without being asked. */
export function failureView(error, again, signal) {
  if (!error.code) {
    console.error(error);
    error = {status: 0, error: 'This part of the page has a mistake.', remedy: String(error.message ?? error), code: 'page'};
  }
  const parts = [h('p', {class: 'bad'}, printable(error.error))];
  if (error.status === 403 && error.permission) parts.push(h('p', null, 'Permission that is missing: ', h('code', null, error.permission)));
  if (error.remedy) parts.push(h('p', null, printable(error.remedy)));
  if (error.actual !== undefined) parts.push(h('p', null, `It is ${printable(JSON.stringify(error.actual))} now. Look again, and decide anew.`));
  parts.push(h('p', {class: 'small dim'}, h('code', null, error.code), error.place ? ` · ${printable(error.place)}` : null));
  if (error.status === 401) parts.push(keyForm());
  else if (again) {
    const button = h('button', {type: 'button', on: {click: () => { clearInterval(timer); again(); }}}, 'Try again');
    let timer = 0;
    if (error.retryAfter) {
      let left = Math.ceil(error.retryAfter);
      const says = h('span', {class: 'dim num'}, `again in ${left} s`);
      timer = setInterval(() => {
        if (document.hidden) return;
        if (signal?.aborted || !button.isConnected) return clearInterval(timer);
        left -= 1;
        says.textContent = `again in ${left} s`;
        if (left <= 0) { clearInterval(timer); again(); }
      }, 1000);
      parts.push(h('p', {class: 'row'}, button, says));
    } else parts.push(h('p', null, button));
  }
  return h('div', {class: 'failure stack', role: 'status'}, parts);
}

/** Asks for a key, in place. It stays in this tab, and goes as a header. */
export function keyForm() {
  const id = newID('key');
  const field = h('input', {id, type: 'password', autocomplete: 'off', spellcheck: 'false', required: true});
  return h('form', {class: 'row', on: {submit(event) {
    event.preventDefault();
    if (field.value.trim()) setKey(field.value.trim());
  }}}, h('label', {for: id}, 'Key'), field, h('button', null, 'Use this key'), h('span', {class: 'small dim'}, 'It stays in this tab.'));
}

/** emptyView('No saved items wait.', 'They appear when an extension saves:', copyLine('profilecli save event …')) */
export const emptyView = (what, why, ...todo) =>
  h('div', {class: 'stack'}, h('p', null, what), why ? h('p', {class: 'dim'}, why) : null, todo.length ? h('div', {class: 'row'}, todo) : null);

export const isLost = () => store.lostSince !== null;
