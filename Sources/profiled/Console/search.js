// The search box: one list of where the text leads. What the service finds by a prefix comes first, when it can.
import {$, h, fill, foreign, newID} from './dom.js';
import {get, has, isAbort} from './api.js';
import {userKey} from './router.js';

let search = null;
export function start(context, go, link) {
  if (search) return search;
  const field = $('find'), list = h('div', {role: 'listbox', id: 'found', 'aria-label': 'Where to go', hidden: true});
  $('search').append(list);
  for (const [name, v] of Object.entries({role: 'combobox', 'aria-expanded': 'false', 'aria-controls': 'found', 'aria-autocomplete': 'list'})) field.setAttribute(name, v);
  let choices = [], chosen = 0, asking = null;

  function guesses(text) {
    const word = text.trim();
    if (!word) return [];
    const where = /^where\s+(.+)/is.exec(word);
    if (where) return [{kind: 'People where', text: where[1], href: link('users', null, {where: where[1]})}];
    const all = [];
    if (/^\d{1,16}$/.test(word)) all.push({kind: 'Event', text: word, href: link('events', word)});
    all.push({kind: 'Person', text: word, href: link('users', word)}, {kind: 'Device', text: word, href: link('devices', word)},
      {kind: 'Message', text: word, href: link('messages', word)});
    return all;
  }
  function show(next, keep = 0) {
    choices = next;
    chosen = Math.max(0, Math.min(keep, next.length - 1));
    fill(list, choices.map((c, i) => h('div', {role: 'option', id: c.id ??= newID('found'), 'aria-selected': String(i === chosen), on: {
      mousedown: (event) => event.preventDefault(), click: () => follow(i)}}, h('span', {class: 'dim'}, c.kind), foreign(c.text, {cut: false}))));
    list.hidden = choices.length === 0;
    field.setAttribute('aria-expanded', String(!list.hidden));
    mark();
  }
  function mark() {
    [...list.children].forEach((e, i) => e.setAttribute('aria-selected', String(i === chosen)));
    if (choices[chosen]) { field.setAttribute('aria-activedescendant', choices[chosen].id); list.children[chosen].scrollIntoView({block: 'nearest'}); } else field.removeAttribute('aria-activedescendant');
  }
  function close() {
    list.hidden = true;
    field.setAttribute('aria-expanded', 'false');
    field.removeAttribute('aria-activedescendant');
  }
  function follow(i) {
    const c = choices[i];
    if (!c) return;
    asking?.abort();
    close();
    field.value = '';
    go(c.href);
  }
  async function input() {
    const text = field.value;
    show(guesses(text));
    asking?.abort();
    if (!text.trim() || /^where\s/i.test(text) || !search.byPrefix || !has('GET /v1/users')) return;
    const mine = asking = new AbortController();
    try {
      const {users} = await get('/v1/users', {prefix: text.trim(), limit: 8}, {signal: mine.signal});
      if (mine.signal.aborted) return;
      const found = users.map((u) => ({kind: 'Person', text: u.id ?? userKey(u), href: link('users', userKey(u))}));
      const known = new Set(found.map((f) => f.href));
      show([...found, ...guesses(text).filter((g) => !known.has(g.href))]);
    } catch (error) { if (!isAbort(error) && error.status === 400) search.byPrefix = false; }
  }
  field.addEventListener('input', input);
  field.addEventListener('blur', close);
  field.addEventListener('focus', () => { if (field.value) input(); });
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') { if (!list.hidden) { event.preventDefault(); close(); } } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (list.hidden) return input();
      chosen = (chosen + (event.key === 'ArrowDown' ? 1 : choices.length - 1)) % choices.length;
      mark();
    }
  });
  // Becomes true when the service knows `prefix`: an older one answers with 400, in the browser's console too.
  search = {byPrefix: false, submit: () => { if (list.hidden) show(guesses(field.value)); follow(chosen); }};
  if (field.value) input();
  return search;
}
