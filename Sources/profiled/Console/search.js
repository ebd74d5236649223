// The search box: one list of what is there, by its first letters; a condition leads to the people who pass.
// combo(field, box, label, {first, follow}): a field with choices below it; first: 0, or −1 if none is chosen at first
import {$, dim, fill, foreign, h, newID, ref, some, uncut} from './dom.js';
import {get, isAbort, store} from './api.js';
import {go, link, userKey} from './router.js';
import {quote} from './where.js';

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

const choice = (kind, text, href, more) => ({key: href, href, text, more, nodes: [dim(kind), uncut(text), more ? dim(more) : null]});
const quietly = (signal) => (path, query) => get(path, query, {signal, quiet: true}).catch((error) => { if (isAbort(error)) throw error; return {}; });
const named = (kind, id) => choice(kind, id, link({Person: 'users', Device: 'devices', Message: 'messages'}[kind], id));
/** People and devices that begin with the word. Without an answer, what may be there. */
async function begin(word, ask, limit = 8) {
  const [{users}, {names}] = await Promise.all([ask('/v1/users', {prefix: word, limit}), ask('/v1/names', {prefix: word, kind: 'device,message', limit: 6})]);
  return [...users?.map((u) => choice('Person', u.id ?? u.matched, link('users', userKey(u)), u.matched === u.id ? null : u.matched)) ?? [named('Person', word)],
    ...names?.map((n) => named(n.kind === 'device' ? 'Device' : 'Message', n.name)) ?? [named('Device', word), named('Message', word)]];
}
const once = (all, known = new Set()) => all.filter((c) => !known.has(c.href) && known.add(c.href));
/** What is nearly the word: in other capitals, else with the same first half. */
async function near(word, ask) {
  const low = word.toLowerCase(), all = async (...words) => (await Promise.all(words.filter((w) => w !== word).map((w) => begin(w, ask, 4)))).flat();
  const cased = await all(low, word.toUpperCase(), low.charAt(0).toUpperCase() + low.slice(1));
  return once(cased.length ? cased : await all(word.slice(0, (word.length + 1) >> 1)));
}
/** That there is no such person or device, and what is nearly it. */
export function unknown(kind, id) {
  const close = h('p');
  near(id, quietly()).then((all) => { if (all.length) fill(close, 'Near it: ', some(all, 8, (c) => ref(c.href, dim(c.nodes[0].textContent, ' '), uncut(c.text)))); });
  return h('div', {class: 'stack', role: 'status'}, h('p', kind === 'users' ? 'Nobody' : 'No device', ' is known as ', foreign(id), '.'), close, h('p', ref(link(kind), `All ${kind === 'users' ? 'people' : kind}`)));
}
const isCondition = /[=<>]|^(not|exists)\b|\s(in|contains|matches)\s/i;
/** `level = 2` as it is asked: custom.level = 2. */
async function asked(text, ask) {
  const [, name, rest] = /^([\w\-$:@]+)(\s*[=<>!].*|\s+\w.*)$/s.exec(text) ?? [], {names = []} = name ? await ask('/v1/names', {prefix: name, kind: 'attribute,user_attribute', limit: 20}) : {};
  return names.some((n) => n.name === name && n.kind === 'attribute') && !names.some((n) => n.name === name && n.kind !== 'attribute') ? `custom.${quote(name)}${rest}` : text;
}

let search = null, sent = null;
export function start() {
  if (search) return search;
  const field = $('find');
  let asking = null, running = null;
  const found = combo(field, $('search'), 'Where to go', {follow});
  function follow(c) {
    if (!c) return;
    asking?.abort();
    found.close();
    field.value = '';
    go(c.href);
  }
  const input = () => running = question();
  async function question() {
    const word = field.value.trim();
    asking?.abort();
    if (!word) return found.close();
    const {signal} = asking = new AbortController(), ask = quietly(signal), written = /^where\s+(.+)/is.exec(word)?.[1];
    try {
      sent ??= quietly()('/v1/events', {kind: 'messageSent,messageNotSent', reverse: true, limit: 200}).then(({events = []}) => [...new Set(events.map((e) => e.message).filter(Boolean))]);
      const [where, all, {names = []}, ids] = await Promise.all([(written || isCondition.test(word)) && asked(written ?? word, ask), written ? [] : begin(word, ask), ask('/v1/names', {prefix: word, kind: 'attribute,event', limit: 4}), sent]);
      if (signal.aborted) return;
      const low = word.toLowerCase(), isExact = (c) => c.text === word && !c.more;
      all.push(...ids.filter((id) => id.toLowerCase().startsWith(low)).slice(0, 4).map((id) => named('Message', id)));
      // What has exactly this name comes first: a device's name also finds the person who was known by it.
      all.unshift(...all.filter(isExact), ...(/^\d{1,16}$/.test(word) && word >= 1 && word <= store.position ? [choice('Event', word, link('events', word))] : []));
      all.push(...names.map((n) => n.kind === 'event' ? choice('Events', n.name, link('events', null, {name: n.name})) : choice('People with', n.name, link('users', null, {where: `exists(custom.${quote(n.name)})`}))));
      if (where) all.push(choice('People where', where, link('users', null, {where})));
      if (!all.length || (!where && word !== low && !all.some(isExact))) all.push(...await near(word, ask));
      if (!signal.aborted) found.show(all.length ? once(all) : [choice('Nothing is named', word, link('users', null, {prefix: word}), 'look among all people')]);
    } catch (error) { if (!isAbort(error)) throw error; }
  }
  field.addEventListener('input', input);
  field.addEventListener('blur', () => asking?.abort());
  field.addEventListener('focus', () => { sent = null; if (field.value) input(); });
  field.addEventListener('keydown', (event) => { if (event.key === 'Escape') asking?.abort(); else if (event.key === 'ArrowDown' && !found.isOpen) input(); });
  search = {async submit() {
    if (!found.isOpen) input();
    for (let last = null; last !== running;) await (last = running);
    follow(found.chosen);
  }};
  if (field.value) input();
  return search;
}
