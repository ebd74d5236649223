// The search box: one list of where the text leads. What the service finds by the first letters comes first.
// combo(field, box, label, {first, follow}): a field with a list of choices below it: c.show([{key, nodes}, …]), c.close(), c.chosen
//   first: 0, or −1 if nothing is chosen at first
import {$, dim, fill, h, newID, uncut} from './dom.js';
import {get, isAbort} from './api.js';
import {userKey} from './router.js';
import {plain} from './words.js';

export function combo(field, box, label, {first = 0, follow}) {
  const list = h('div', {role: 'listbox', id: newID('choices'), 'aria-label': label, hidden: true});
  box.append(list);
  for (const [name, v] of Object.entries({role: 'combobox', 'aria-expanded': 'false', 'aria-controls': list.id, 'aria-autocomplete': 'list'})) field.setAttribute(name, v);
  let choices = [], chosen = first;
  function mark() {
    [...list.children].forEach((e, i) => e.ariaSelected = i === chosen);
    if (choices[chosen] && !list.hidden) { field.setAttribute('aria-activedescendant', list.children[chosen].id); list.children[chosen].scrollIntoView({block: 'nearest'}); } else field.removeAttribute('aria-activedescendant');
  }
  const c = {
    get isOpen() { return !list.hidden; },
    get chosen() { return list.hidden ? undefined : choices[chosen]; },
    /** What was chosen by hand stays chosen, if it is there still. */
    show(next) {
      const kept = chosen > first ? next.findIndex((x) => x.key === choices[chosen]?.key) : -1;
      choices = next;
      chosen = kept >= 0 ? kept : first;
      fill(list, choices.map((x, i) => h('div', {role: 'option', id: newID('choice'), on: {mousedown: (event) => event.preventDefault(), click: () => follow(choices[i])}}, x.nodes)));
      list.hidden = choices.length === 0;
      field.ariaExpanded = !list.hidden;
      mark();
    },
    close: () => c.show([]),
  };
  field.addEventListener('blur', c.close);
  field.addEventListener('keydown', (event) => {
    if (list.hidden || event.isComposing) return;
    const step = {ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) chosen = chosen < 0 ? (step > 0 ? 0 : choices.length - 1) : (chosen + step + choices.length) % choices.length;
    else if (event.key === 'Escape') c.close();
    else return;
    event.preventDefault();
    mark();
  });
  return c;
}

let search = null;
export function start(go, link) {
  if (search) return search;
  const field = $('find');
  let asking = null, running = null;
  const found = combo(field, $('search'), 'Where to go', {follow});
  const choice = (kind, text, href, more) => ({key: href, href, text, more, nodes: [dim(kind), uncut(text), more ? dim(more) : null]});

  function guesses(text) {
    const word = text.trim();
    if (!word) return [];
    const where = /^where\s+(.+)/is.exec(word);
    if (where) return [choice('People where', where[1], link('users', null, {where: where[1]}))];
    const all = /^\d{1,16}$/.test(word) ? [choice('Event', word, link('events', word))] : [];
    all.push(choice('Person', word, link('users', word)), choice('Device', word, link('devices', word)), choice('Message', word, link('messages', word)));
    all.push(choice('People who begin with', word, link('users', null, {prefix: word})));
    return all;
  }
  function follow(c) {
    if (!c) return;
    asking?.abort();
    found.close();
    field.value = '';
    go(c.href);
  }
  const input = () => running = question();
  async function question() {
    const text = field.value, word = text.trim();
    asking?.abort();
    found.show(guesses(text));
    if (!word || /^where\s/i.test(text)) return;
    const {signal} = asking = new AbortController();
    const ask = (path, query) => get(path, query, {signal, quiet: true}).catch((error) => { if (isAbort(error)) throw error; return {}; });
    try {
      const [{users = []}, {names = []}] = await Promise.all([ask('/v1/users', {prefix: word, limit: 8}), ask('/v1/names', {prefix: word, kind: 'device,message', limit: 6})]);
      if (signal.aborted) return;
      const all = [...users.map((u) => choice('Person', u.matched ?? u.id, link('users', userKey(u)), u.matched === u.id ? null : plain(u.kind))),
        ...names.map((n) => choice(n.kind === 'device' ? 'Device' : 'Message', n.name, link(`${n.kind}s`, n.name)))];
      // What has exactly this name comes first: a device's own name also finds the person who was known by it.
      const known = new Set(), isExact = (c) => c.text === word && !c.more;
      found.show([...all.filter(isExact), ...all, ...guesses(text)].filter((c) => !known.has(c.href) && known.add(c.href)));
    } catch (error) { if (!isAbort(error)) throw error; }
  }
  field.addEventListener('input', input);
  field.addEventListener('blur', () => asking?.abort());
  field.addEventListener('focus', () => { if (field.value) input(); });
  field.addEventListener('keydown', (event) => { if (event.key === 'Escape') asking?.abort(); else if (event.key === 'ArrowDown' && !found.isOpen) input(); });
  search = {async submit() {
    if (!found.isOpen) found.show(guesses(field.value));
    for (let last = null; last !== running;) await (last = running);
    follow(found.chosen);
  }};
  if (field.value) input();
  return search;
}
