// The frame of the page: addresses, places, the bands above them, the top bar. A place is a module with
//   mount(root, context)   fills the empty <div> `root`; its first element is the heading, h1(…)
//   update(context)        the query, the moment or Look/Act changed      unmount()   optional
// `context`, while the place is mounted: place, id (null: the list), params (the query), at (the moment; null: now), as_of (that for
// the API), signal, set({field: 'level', vs: null}, {push}), past(…) for the band about the past, act (whether writes are offered).
// An address with a position names its store (`store=`); a page of another store says so.
import * as api from './api.js';
import {$, button, fill, h, h1, keep, kept, number, printable, ref, say} from './dom.js';
import {setClock, time, timeText} from './time.js';
import {failureView, keyForm} from './panel.js';

const setup = () => import('./setup.js');
let isNear = false;
/** The files of a person's page and its first answer come at once, not one level of imports after the other. */
function person(id) {
  api.ahead('/v1/history', {user: id, merged: true, parts: 'times', limit: 100_000}, {plain: true});
  if (!isNear) document.head.append(...['table', 'life', 'timeline', 'marks', 'cause', 'compare', 'words', 'wire'].map((name) => h('link', {rel: 'modulepreload', href: new URL(`${name}.js`, api.home)})));
  isNear = true;
  return import('./person.js');
}
const places = {
  overview: {list: () => import('./overview.js')},
  users: {list: () => import('./people.js'), one: person},
  devices: {list: () => import('./devices.js'), one: () => import('./device.js')},
  messages: {list: () => import('./sends.js'), one: () => import('./message.js')},
  events: {list: () => import('./events.js'), one: () => import('./event.js')},
  rejected: {list: () => import('./rejected.js')},
  rules: {list: setup}, traits: {list: setup}, states: {list: setup}, api: {list: setup},
};

// Addresses

export function link(place, id = null, params = {}) {
  // `.` and `..` can stand in no path.
  const inQuery = id === '.' || id === '..';
  const url = new URL((place === 'overview' ? '' : place) + (id === null || inQuery ? '' : '/' + encodeURIComponent(String(id).toWellFormed())), api.home), query = url.searchParams;
  for (const [name, v] of Object.entries({...(inQuery && {id}), ...params})) if (v !== null && v !== undefined && v !== '') query.set(name, String(v).toWellFormed());
  if ((query.has('at') || query.has('vs') || (place === 'events' && id)) && api.store.id) query.set('store', api.store.id.slice(0, 8));
  return url.pathname + url.search.replaceAll('%2C', ',').replaceAll('%3A', ':');
}
export const isAddress = (id) => /@|^(email|phone):|^\+?[\d ()-]{7,}$/.test(id) && !/^(alias|braze|id):/.test(id);
/** What stands for a person in an address and as `user=`: their ID; if that is an address, the braze_id. */
export function userKey(user) {
  if (typeof user === 'string') return user;
  return user.braze_id && (!user.id || isAddress(user.id)) ? `braze:${user.braze_id}` : user.id;
}

function parse(url) {
  const rest = url.pathname.slice(api.home.pathname.length);
  const [place = '', ...more] = rest.split('/');
  const params = Object.fromEntries(url.searchParams);
  let id = more.length ? more.join('/') : params.id ?? null;
  try { if (more.length) id = decodeURIComponent(id); } catch { /* as it is */ }
  const linkStore = params.store ?? null;
  delete params.store;
  if (!more.length) delete params.id;
  return {place: place || 'overview', id: id === '' ? null : id, params, linkStore};
}
export const moment = (text) => /^\d{1,16}$/.test(text ?? '') ? Number(text) : null;

// One place at a time

let current = null, turn = 0, addressTimer = 0, address = null, acting = kept('profilelog-act') === 'yes';
// Styles that the overview does without come after its first content.
let styles = null;
const styled = () => styles ??= new Promise((resolve) => { document.head.append(h('link', {rel: 'stylesheet', href: new URL('places.css', api.home), on: {load: resolve, error: resolve}})); });

function makeContext(route) {
  const ending = new AbortController();
  const context = {
    ...route, at: moment(route.params.at), signal: ending.signal, store: api.store, has: api.has, can: api.can, link,
    whenReady: (f) => ready.then(() => { if (!ending.signal.aborted) f(); }),
    get as_of() { return context.at ?? undefined; },
    get act() { return acting && context.at === null && api.can('v1.write'); },
    end: () => ending.abort(),
    on: (type, f) => api.on(type, f, ending.signal),
    title: (text) => { document.title = text ? `${printable(text)} – ProfileLog` : 'ProfileLog'; },
    go,
    set(changes, {push = false} = {}) {
      // A late answer changes no other page.
      if (current?.context !== context) return;
      const params = {...context.params};
      for (const [name, v] of Object.entries(changes)) if (v === null || v === undefined || v === '') delete params[name]; else params[name] = String(v);
      const href = link(context.place, context.id, params);
      if (push) writeAddress(); else clearTimeout(addressTimer);
      // Browsers allow some hundred changes of the address a minute, and a handle moves faster.
      if (push) history.pushState(null, '', href); else { address = href; addressTimer = setTimeout(writeAddress, 120); }
      context.params = params;
      change();
    },
    past(...nodes) { context.pastNodes = nodes; pastBand(); },
    keys: (part, name, map) => import('./keys.js').then((k) => { if (!ending.signal.aborted) k.keys(part, name, map, ending.signal); }),
  };
  return context;
}
/** The address that waits stands in the history before another one comes; where the browser itself went, it is dropped. */
function writeAddress() {
  if (address) history.replaceState(null, '', address);
  forgetAddress();
}
function forgetAddress() { clearTimeout(addressTimer); address = null; }
/** The query, the moment or the mode changed: the place updates, or is mounted anew. */
function change() {
  const {context, module} = current;
  context.at = moment(context.params.at);
  context.pastNodes = null;
  modes();
  if (module?.update) attempt(() => module.update(context)); else if (module) mount(module, context, true);
  if (!context.pastNodes) pastBand();
}
function attempt(f) {
  try { f(); } catch (error) { $('root').append(h('section', {class: 'panel'}, failureView(error, () => location.reload()))); }
}

function mount(module, context, isQuiet) {
  const root = fill($('root'));
  attempt(() => module.mount(root, context));
  focusTitle(isQuiet);
}
async function open(isFirst = false) {
  forgetAddress();
  const mine = ++turn, route = parse(new URL(location)), before = current;
  if (before && before.context.place === route.place && before.context.id === route.id && before.module) {
    before.context.params = route.params;
    foreignStore(route.linkStore);
    return change();
  }
  before?.context.end();
  before?.module?.unmount?.();
  const context = makeContext(route);
  current = {context, module: null};
  document.title = 'ProfileLog';
  for (const a of document.querySelectorAll('.rail a')) {
    a.ariaCurrent = a.dataset.place === route.place ? 'page' : null;
  }
  closeMenu();
  pastBand();
  modes();
  foreignStore(route.linkStore);
  const place = places[route.place], load = place && (route.id === null ? place.list : place.one);
  if (!load) {
    fill($('root'), h1('There is no such place'), h('p', ref(link('overview'), 'To the overview')));
    return focusTitle(isFirst);
  }
  try {
    const [module] = await Promise.all([load(route.id), route.place === 'overview' ? null : styled()]);
    if (mine !== turn) return;
    current.module = module;
    if (!isFirst) window.scrollTo(0, 0);
    mount(module, context, isFirst);
  } catch (error) {
    if (mine !== turn) return;
    console.error(error);
    fill($('root'), h1('This place could not be loaded'), h('p', 'Its file did not come.'), button('Try again', () => location.reload()));
    focusTitle(isFirst);
  }
}
const focusTitle = (isFirst) => { if (!isFirst) $('root').querySelector('h1')?.focus({preventScroll: true}); };
export function go(href) {
  writeAddress();
  history.pushState(null, '', href);
  open();
}
addEventListener('popstate', () => open());
document.addEventListener('click', (event) => {
  const a = event.target.closest?.('a[href]');
  if (!a || event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || a.target || a.hasAttribute('download')) return;
  const url = new URL(a.href);
  if (url.origin !== location.origin || !url.pathname.startsWith(api.home.pathname) || (url.hash && url.pathname === location.pathname)) return;
  event.preventDefault();
  go(url.href);
});

// Bands

const bands = {};
function band(name, kind, ...nodes) {
  bands[name]?.remove();
  delete bands[name];
  if (!nodes.length) return;
  // The past is said by what chose it: a handle's steps would be read twice.
  bands[name] = h('div', {class: `band ${kind}`, role: name === 'past' ? null : 'status'}, nodes);
  $('bands').append(bands[name]);
}
let momentTimer = 0;
function pastBand() {
  const {context} = current;
  clearTimeout(momentTimer);
  if (context.at === null) return band('past');
  const end = api.store.position, sentence = h('span', context.pastNodes ?? ['You look at ', h('strong', `position ${number(context.at)}`), end === null ? '.' : ` of ${number(end)}.`]);
  if (bands.past) bands.past.firstChild.replaceWith(sentence); else band('past', 'past', sentence, button('Back to now', () => { current.context.set({at: null}); focusTitle(); }));
  if (context.pastNodes || context.at < 1 || context.at > end) return;
  momentTimer = setTimeout(async () => {
    try {
      const {events} = await api.get('/v1/events', {after: context.at - 1, limit: 1}, {signal: context.signal});
      if (!context.pastNodes && events[0]?.position === context.at) sentence.append(' It was recorded on ', time(events[0].recorded_at, {form: 'full'}), '.');
    } catch { /* the sentence stands without it */ }
  }, 300);
}
function foreignStore(linked) {
  const {id} = api.store;
  if (!linked || !id || id.startsWith(linked)) return band('foreign');
  band('foreign', 'lost', h('span', 'This link is of another store (', h('code', printable(linked)), '). Here its positions mean other events.'));
}
api.on('lost', () => {
  $('dot').className = 'dot off';
  $('live').textContent = 'No connection';
  band('lost', 'lost', h('span', `No answer since ${timeText(api.store.lostSince.toISOString(), 'seconds')}; showing that state.`),
    button('Try now', api.poll));
});
api.on('back', () => {
  band('lost');
  showStore();
  say('The service answers again.');
  if (!api.store.endpoints.size) api.meet().catch(() => {});
});
api.on('reset', () => {
  band('reset', 'lost', h('span', 'The store was emptied; this page showed the one before.'), button('Good', () => band('reset')));
  showStore();
  const {context, module} = current;
  for (const name of ['at', 'vs', 'launch', 'item']) delete context.params[name];
  history.replaceState(null, '', link(context.place, context.id, context.params));
  context.end();
  module?.unmount?.();
  current = null;
  open(true);
});

// The top bar

let asked = '';
function showStore() {
  const {name, mode, position, lostSince} = api.store;
  $('store-name').textContent = printable(name);
  $('store-mode').textContent = mode && name ? `· ${mode}` : mode;
  $('store-position').textContent = position === null ? '' : `· position ${number(position)}`;
  if (!lostSince) { $('dot').className = `dot ${position === null ? '' : 'on'}`; $('live').textContent = position === null ? 'Connecting' : 'Connected'; }
  const asks = api.store.needsKey && (!api.hasKey() ? 'This service needs a key.' : api.store.refused ? 'The key is not valid any more.' : '');
  if (asks !== asked) band('key', '', ...(asks ? [h('span', asks), keyForm()] : []));
  asked = asks;
}
api.on('store', () => {
  showStore();
  modes();
  const {linkStore} = parse(new URL(location));
  foreignStore(linkStore);
  // An address written by hand gets its store, to be copied.
  if (current && !linkStore) history.replaceState(null, '', link(current.context.place, current.context.id, current.context.params) + location.hash);
});
api.on('key', showStore);
api.on('position', () => { showStore(); if (current?.context.at !== null && current && !current.context.pastNodes) pastBand(); });

function modes() {
  const look = $('look'), act = $('act');
  const isPast = current && current.context.at !== null;
  const allowed = api.can('v1.write');
  act.disabled = !allowed || isPast;
  act.title = isPast ? 'Nothing can be written at a past moment.' : allowed ? 'Offer what writes.' : 'This key may not write (v1.write).';
  const acts = acting && allowed && !isPast;
  act.ariaPressed = acts;
  look.ariaPressed = !acts;
}
function setActing(next) {
  acting = next;
  keep('profilelog-act', next ? 'yes' : 'no');
  api.emit('act', next);
  change();
}
$('look').addEventListener('click', () => setActing(false));
$('act').addEventListener('click', () => setActing(true));

const clock = $('clock');
clock.value = kept('profilelog-clock', 'localStorage');
if (!clock.value) clock.value = 'local';
setClock(clock.value);
clock.addEventListener('change', () => {
  keep('profilelog-clock', clock.value, 'localStorage');
  setClock(clock.value);
  api.emit('clock', clock.value);
});
function closeMenu() {
  $('menu').ariaExpanded = 'false';
  $('rail').classList.remove('open');
}
$('menu').addEventListener('click', () => $('menu').ariaExpanded = $('rail').classList.toggle('open'));
$('rail').addEventListener('keydown', (event) => { if (event.key === 'Escape' && $('rail').classList.contains('open')) { closeMenu(); $('menu').focus(); } });

const find = $('find');
const searching = () => import('./search.js').then((m) => m.start());
find.addEventListener('focus', searching, {once: true});
find.form.addEventListener('submit', () => searching().then((search) => search.submit()));
// No form of the page loads another one.
document.addEventListener('submit', (event) => event.preventDefault());

const lastRequest = $('last-request');
api.on('request', (r) => {
  if (!r.quiet) lastRequest.textContent = `${r.method} ${printable(r.path.slice(0, 200))} · ${r.status} · ${r.ms.toFixed(1)} ms · ${(r.bytes / 1024).toFixed(1)} KB`;
});
const toggleRequests = () => import('./drawer.js').then((m) => m.toggle());
$('requests').addEventListener('click', toggleRequests);

const ready = api.meet().catch(() => {});
open(true);
if (location.hash.startsWith('#pins=') || kept('profilelog-pins')) styled().then(() => import('./pins.js'));
api.poll();
ready.then(() => { styled(); return import('./keys.js'); }).then((k) => k.globalKeys({toSearch: () => { find.focus(); find.select(); }, toggleRequests}));
