// The frame of the page: addresses, places, the bands above them, the top bar. The way in for whoever builds a place:
//
// A place is a module that exports
//   mount(root, context)   fills the empty <div> `root`. Its first element is the heading, h('h1', {tabindex: '-1'}, …).
//   update(context)        optional: the query of the address, the moment or Look/Act changed; without it the place is mounted anew
//   unmount()              optional: requests (panels), listeners of context.on and keys end by context.signal anyway
// `context`, one object as long as the place is mounted, has
//   place, id              'users', 'ana' (decoded; null for the list)      params   the query, as a plain object of texts
//   at                     the chosen moment, a position as a number, or null for now. as_of: context.at ?? undefined
//   set({field: 'level', at: 9, vs: null}, {push: true})   changes the query (replaces the address unless push), calls update
//   go(href)               link(place, id, params) → an href of the console; userLink(user, params); both carry `at` if it is in params
//   title('ana')           the document's title         past(...nodes)   the sentence of the band about the past; call it in update too
//   act                    whether writes may be offered: Act is chosen, the moment is now, and the key may write
//   store, has('GET /v1/key'), can('v1.write'), signal, on(type, f)     as in api.js; on() ends with the place
//   keys(part, name, map)  keys of a part: see keys.js. `ready`: a promise, when has() and store are known
// The table below (`places`) says which module shows an address. IDs are percent-encoded; `.` and `..`, which no path can hold, go as ?id=.
// A moment is a position in `at=`; an address with a moment names its store (`store=`), and a page of another store says so.
// user keys: userKey(user) is what stands for a person in addresses and as `user=` (an ID that is an address appears by braze_id).
import * as api from './api.js';
import {$, h, fill, say, printable} from './dom.js';
import {setClock, time, timeText} from './time.js';
import {failureView, keyForm} from './panel.js';

const setup = () => import('./setup.js');
const places = {
  overview: {list: () => import('./overview.js')},
  users: {list: () => import('./people.js'), one: () => import('./person.js')},
  devices: {list: () => import('./devices.js'), one: () => import('./device.js')},
  messages: {list: () => import('./sends.js'), one: () => import('./message.js')},
  events: {list: () => import('./events.js'), one: () => import('./event.js')},
  rejected: {list: () => import('./rejected.js')},
  rules: {list: setup}, traits: {list: setup}, states: {list: setup}, api: {list: setup},
};

// Addresses

export function link(place, id = null, params = {}) {
  const inQuery = id === '.' || id === '..';
  const path = (place === 'overview' ? '' : place) + (id === null || id === undefined || inQuery ? '' : '/' + encodeURIComponent(String(id).toWellFormed()));
  const url = new URL(path, api.home);
  const query = {...(inQuery && {id}), ...params};
  for (const [name, v] of Object.entries(query)) if (v !== null && v !== undefined && v !== '') url.searchParams.set(name, String(v).toWellFormed());
  if ((url.searchParams.has('at') || url.searchParams.has('vs') || (place === 'events' && id)) && api.store.id) url.searchParams.set('store', api.store.id.slice(0, 8));
  return url.pathname + url.search.replaceAll('%2C', ',').replaceAll('%3A', ':');
}
/** Stands for a person in an address and as `user=`. `user` has id and braze_id, as in answers of the API, where an ID is a USER already: `id:alias:x` is the external ID `alias:x`. */
export function userKey(user) {
  if (typeof user === 'string') user = {id: user};
  const {id} = user;
  const isAddress = id && (/@/.test(id) || /^\+?[\d ()-]{7,}$/.test(id));
  if (user.braze_id && (!id || isAddress)) return `braze:${user.braze_id}`;
  return id;
}
export const userLink = (user, params) => link('users', userKey(user), params);

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
const moment = (params) => /^\d{1,16}$/.test(params.at ?? '') ? Number(params.at) : null;

// One place at a time

let current = null, turn = 0, addressTimer = 0, acting = false;
try { acting = sessionStorage.getItem('profilelog-act') === 'yes'; } catch { /* no storage */ }

function makeContext(route) {
  const ending = new AbortController();
  const context = {
    ...route, at: moment(route.params), signal: ending.signal, store: api.store, has: api.has, can: api.can, link, userLink, ready,
    get act() { return acting && context.at === null && api.can('v1.write'); },
    end: () => ending.abort(),
    on: (type, f) => api.on(type, f, ending.signal),
    title: (text) => { document.title = text ? `${printable(text)} – ProfileLog` : 'ProfileLog'; },
    go,
    set(changes, {push = false} = {}) {
      const params = {...context.params};
      for (const [name, v] of Object.entries(changes)) if (v === null || v === undefined || v === '') delete params[name]; else params[name] = String(v);
      const href = link(context.place, context.id, params);
      clearTimeout(addressTimer);
      // Browsers allow some hundred changes of the address a minute, and a handle moves faster.
      if (push) history.pushState(null, '', href); else addressTimer = setTimeout(() => { if (current?.context === context) history.replaceState(null, '', href); }, 120);
      context.params = params;
      change();
    },
    past(...nodes) { context.pastNodes = nodes; pastBand(); },
    keys: (part, name, map) => import('./keys.js').then((k) => { if (!ending.signal.aborted) k.keys(part, name, map, ending.signal); }),
  };
  return context;
}
/** The query, the moment or the mode changed: the place updates, or is mounted anew. */
function change() {
  const {context, module} = current;
  context.at = moment(context.params);
  context.pastNodes = null;
  modes();
  if (module?.update) attempt(() => module.update(context)); else if (module) mount(module, context, true);
  if (!context.pastNodes) pastBand();
}
function attempt(f) {
  try {
    const result = f();
    result?.catch?.((error) => { if (!api.isAbort(error)) problem(error); });
  } catch (error) { problem(error); }
}
const problem = (error) => $('root').append(h('section', {class: 'panel'}, failureView(error, () => location.reload())));

function mount(module, context, isQuiet) {
  const root = fill($('root'));
  attempt(() => module.mount(root, context));
  if (!document.title || document.title === 'ProfileLog') context.title(root.querySelector('h1')?.textContent ?? context.place);
  focusTitle(isQuiet);
}
async function open(isFirst = false) {
  const mine = ++turn;
  const url = new URL(location);
  const route = parse(url);
  const before = current;
  if (before && before.context.place === route.place && before.context.id === route.id && before.module) {
    before.context.params = route.params;
    foreignStore(route.linkStore);
    return change();
  }
  clearTimeout(addressTimer);
  before?.context.end();
  try { before?.module?.unmount?.(); } catch (error) { console.error(error); }
  const context = makeContext(route);
  current = {context, module: null};
  document.title = 'ProfileLog';
  for (const a of document.querySelectorAll('.rail a')) {
    if (a.dataset.place === route.place) a.setAttribute('aria-current', 'page'); else a.removeAttribute('aria-current');
  }
  closeMenu();
  pastBand();
  modes();
  foreignStore(route.linkStore);
  const place = places[route.place];
  const load = place && (route.id === null ? place.list : place.one);
  if (!load) {
    fill($('root'), h('h1', {tabindex: '-1'}, 'There is no such place'), h('p', null, h('a', {href: link('overview')}, 'To the overview')));
    return focusTitle(isFirst);
  }
  try {
    const module = await load();
    if (mine !== turn) return;
    current.module = module;
    if (!isFirst) window.scrollTo(0, 0);
    mount(module, context, isFirst);
  } catch (error) {
    if (mine !== turn) return;
    console.error(error);
    fill($('root'), h('h1', {tabindex: '-1'}, 'This place could not be loaded'), h('p', null, 'Its file did not come, or is not in this version.'),
      h('p', null, h('button', {type: 'button', on: {click: () => location.reload()}}, 'Try again')));
    focusTitle(isFirst);
  }
}
const focusTitle = (isFirst) => { if (!isFirst) $('root').querySelector('h1')?.focus({preventScroll: true}); };
export function go(href, {replace = false} = {}) {
  history[replace ? 'replaceState' : 'pushState'](null, '', href);
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
  const sentence = h('span', null, context.pastNodes ?? ['You look at ', h('strong', null, `position ${context.at.toLocaleString('en')}`),
    api.store.position === null ? '.' : ` of ${api.store.position.toLocaleString('en')}.`]);
  const button = h('button', {type: 'button', on: {click: () => context.set({at: null})}}, 'Back to now');
  if (bands.past) bands.past.firstChild.replaceWith(sentence); else band('past', 'past', sentence, button);
  if (context.pastNodes || context.at < 1) return;
  momentTimer = setTimeout(async () => {
    try {
      const {events} = await api.get('/v1/events', {after: context.at - 1, limit: 1}, {signal: context.signal});
      if (!context.pastNodes && events[0]?.position === context.at) sentence.append(' It was recorded on ', time(events[0].recorded_at, {form: 'full'}), '.');
    } catch { /* the sentence stands without it */ }
  }, 300);
}
function foreignStore(linked) {
  const isOther = linked && api.store.id && !api.store.id.startsWith(linked);
  if (!linked || isOther) {
    if (!isOther) return band('foreign');
    band('foreign', 'lost', h('span', null, 'This link is of another store (', h('code', null, printable(linked)), '). Here its positions mean other events.'));
  } else api.on('store', () => foreignStore(parse(new URL(location)).linkStore), current.context.signal);
}
api.on('lost', () => {
  $('dot').className = 'dot off';
  $('live').textContent = 'No connection';
  band('lost', 'lost', h('span', null, `No answer since ${timeText(api.store.lostSince.toISOString(), 'seconds')}; showing that state.`),
    h('button', {type: 'button', on: {click: api.poll}}, 'Try now'));
});
api.on('back', () => {
  band('lost');
  showStore();
  say('The service answers again.');
  if (!api.store.endpoints.size) api.meet().catch(() => {});
});
api.on('reset', () => {
  band('reset', 'lost', h('span', null, 'The store was emptied; this page showed the one before.'), h('button', {type: 'button', on: {click: () => band('reset')}}, 'Good'));
  showStore();
  const {context} = current;
  for (const name of ['at', 'vs']) delete context.params[name];
  history.replaceState(null, '', link(context.place, context.id, context.params));
  context.end();
  current = null;
  open(true);
});

// The top bar

let asked = '';
function showStore() {
  const {name, mode, position, lostSince} = api.store;
  $('store-name').textContent = printable(name);
  $('store-mode').textContent = mode && name ? `· ${mode}` : mode;
  $('store-position').textContent = position === null ? '' : `· position ${position.toLocaleString('en')}`;
  if (!lostSince) { $('dot').className = `dot ${position === null ? '' : 'on'}`; $('live').textContent = position === null ? 'Connecting' : 'Connected'; }
  const asks = api.store.needsKey && (!api.hasKey() ? 'This service needs a key.' : api.store.refused ? 'The key is not valid any more.' : '');
  if (asks !== asked) band('key', '', ...(asks ? [h('span', null, asks), keyForm()] : []));
  asked = asks;
}
api.on('store', () => { showStore(); modes(); });
api.on('key', showStore);
api.on('position', () => { showStore(); if (current?.context.at !== null && current && !current.context.pastNodes) pastBand(); });

function modes() {
  const look = $('look'), act = $('act');
  const isPast = current && current.context.at !== null;
  const allowed = api.can('v1.write');
  act.disabled = !allowed || isPast;
  act.title = isPast ? 'Nothing can be written at a past moment.' : allowed ? 'Offer what writes.' : 'This key may not write (v1.write).';
  const acts = acting && allowed && !isPast;
  act.setAttribute('aria-pressed', String(acts));
  look.setAttribute('aria-pressed', String(!acts));
}
function setActing(next) {
  acting = next;
  try { sessionStorage.setItem('profilelog-act', next ? 'yes' : 'no'); } catch { /* no storage */ }
  api.emit('act', next);
  change();
}
$('look').addEventListener('click', () => setActing(false));
$('act').addEventListener('click', () => setActing(true));

const clock = $('clock');
try { clock.value = localStorage.getItem('profilelog-clock') ?? 'local'; } catch { /* no storage */ }
if (!clock.value) clock.value = 'local';
setClock(clock.value);
clock.addEventListener('change', () => {
  try { localStorage.setItem('profilelog-clock', clock.value); } catch { /* no storage */ }
  setClock(clock.value);
  api.emit('clock', clock.value);
});
function closeMenu() {
  $('menu').setAttribute('aria-expanded', 'false');
  $('rail').classList.remove('open');
}
$('menu').addEventListener('click', () => $('menu').setAttribute('aria-expanded', String($('rail').classList.toggle('open'))));
$('rail').addEventListener('keydown', (event) => { if (event.key === 'Escape' && $('rail').classList.contains('open')) { closeMenu(); $('menu').focus(); } });

const find = $('find');
const searching = () => import('./search.js').then((m) => m.start(current.context, go, link));
find.addEventListener('focus', searching, {once: true});
find.form.addEventListener('submit', (event) => { event.preventDefault(); searching().then((search) => search.submit()); });

const readable = (path) => { try { return printable(decodeURI(path).slice(0, 200)); } catch { return path.slice(0, 200); } };
const lastRequest = $('last-request');
api.on('request', (r) => {
  if (!r.quiet) lastRequest.textContent = `${r.method} ${readable(r.path)} · ${r.status} · ${r.ms.toFixed(1)} ms · ${(r.bytes / 1024).toFixed(1)} KB`;
});
const toggleRequests = () => import('./drawer.js').then((m) => m.toggle());
$('requests').addEventListener('click', toggleRequests);

const ready = api.meet().catch(() => {});
open(true);
try { if (location.hash.startsWith('#pins=') || sessionStorage.getItem('profilelog-pins')) import('./pins.js'); } catch { /* no storage */ }
api.poll();
ready.then(() => import('./keys.js')).then((k) => k.globalKeys({toSearch: () => { find.focus(); find.select(); }, toggleRequests}));
