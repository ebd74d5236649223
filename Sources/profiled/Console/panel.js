// One panel with its request (or several) and its states: empty, loading, shown, stale, refused, failed.
//   const p = panel(context, {title, level, actions: [nodes],
//     load: (ask, ...args) => ask.get('/v1/profile', {user}),   ask.get as in api.js, with this load's signal
//     show: (data, body) => nodes, or nothing if it changed `body` itself
//     empty: (data) => nodes or null});   emptyView: what would be here, why it is not, one thing to do
//   A newer load aborts the older one; it loads again when the connection is back, a key was given, Retry-After is over.
import {get, isAbort, on, setKey} from './api.js';
import {button, fill, h, inRow, labelled, newID, para, printable} from './dom.js';
import {timeText} from './time.js';

export function panel(context, {title, level = 2, actions = [], load, show, empty = () => null, class: name = ''}) {
  const id = newID('panel'), heading = h(`h${level}`, {id}, title), note = h('div', {class: 'note'}), body = h('div', {class: 'body'});
  const tools = inRow(actions);
  const element = h('section', {class: `panel ${name}`.trim(), 'aria-labelledby': id, 'data-state': 'empty'}, h('header', heading, tools), note, body);
  tools.hidden = !actions.length;
  let running = null, args = [], shownAt = null;
  const p = {
    element, body, data: null, state: 'empty', setTitle: (t) => fill(heading, t), reload: () => p.load(...args),
    async load(...next) {
      args = next;
      running?.abort();
      const mine = running = new AbortController(), signal = AbortSignal.any([mine.signal, context.signal]);
      const slow = setTimeout(() => {
        if (running !== mine) return;
        set('loading');
        element.ariaBusy = 'true';
        if (p.data === null) fill(note, para('dim', 'Loading…'));
      }, 150);
      try {
        const data = await load({signal, get: (path, query, o) => get(path, query, {signal, ...o})}, ...args);
        if (signal.aborted) return;
        p.data = data;
        shownAt = new Date();
        fill(note);
        const nothing = empty(data), made = nothing ?? show(data, body);
        if (made !== undefined) fill(body, made);
        set(nothing ? 'empty' : 'shown');
      } catch (error) {
        if (!isAbort(error) && !signal.aborted) fail(error);
      } finally {
        clearTimeout(slow);
        if (running === mine) { running = null; element.ariaBusy = null; }
      }
    },
  };
  function set(state) { p.state = element.dataset.state = state; }
  function fail(error) {
    if (error.code === 'no_connection' && p.data !== null) {
      set('stale');
      return fill(note, para('warn', `No answer; this is of ${timeText(shownAt.toISOString(), 'seconds')}.`));
    }
    set(error.status === 401 || error.status === 403 ? 'refused' : 'failed');
    if (![401, 429, 503].includes(error.status)) { p.data = null; fill(body); }
    fill(note, failureView(error, p.reload, context.signal));
  }
  on('back', () => { if (p.state === 'stale' || p.state === 'failed') p.reload(); }, context.signal);
  on('key', () => { if (p.state === 'refused' || p.state === 'failed') p.reload(); }, context.signal);
  return p;
}

/** What went wrong, in the service's words, with the next step. `again` is for reads: it is called by itself too. */
export function failureView(error, again, signal) {
  if (!error.code) {
    console.error(error);
    error = {status: 0, error: 'This part of the page has a mistake.', remedy: String(error.message ?? error), code: 'page'};
  }
  const text = (x) => printable(x).split('`').map((part, i) => i % 2 ? h('code', part) : part);
  let retry = null;
  if (error.status === 401) retry = keyForm();
  else if (again) {
    const says = h('span', {class: 'dim num'}), press = button('Try again', () => { clearInterval(timer); again(); });
    let left = Math.ceil(error.retryAfter ?? 0) + 1, timer = 0;
    function tick() {
      if (document.hidden) return;
      if (signal?.aborted || (timer && !press.isConnected)) return clearInterval(timer);
      left -= 1;
      says.textContent = `again in ${left} s`;
      if (left <= 0) { clearInterval(timer); again(); }
    }
    if (error.retryAfter) { tick(); timer = setInterval(tick, 1000); }
    retry = para('row', press, says);
  }
  return h('div', {class: 'failure stack', role: 'status'}, para('bad', text(error.error)),
    error.permission ? h('p', 'Permission that is missing: ', h('code', error.permission)) : null, error.remedy ? h('p', text(error.remedy)) : null,
    error.actual === undefined ? null : h('p', `It is ${printable(JSON.stringify(error.actual))} now. Look again, and decide anew.`),
    para('small dim', h('code', error.code), error.place ? ` · ${printable(error.place)}` : null), retry);
}

export function keyForm() {
  const [label, field] = labelled('Key', {type: 'password', required: true}), says = h('span', {class: 'small dim', role: 'status'}, 'It stays in this tab.');
  return h('form', {class: 'row', on: {submit() {
    const text = field.value.trim();
    // Others can stand in no header.
    if (/^[\x21-\x7e]+$/.test(text)) setKey(text); else says.textContent = 'A key has only letters, digits and signs of ASCII, and no space.';
  }}}, label, field, h('button', 'Use this key'), says);
}
export const emptyView = (what, why, ...todo) =>
  h('div', {class: 'stack'}, h('p', what), why ? para('dim', why) : null, todo.length ? inRow(todo) : null);
