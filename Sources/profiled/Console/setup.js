// Setup, read only: rules, traits, states of the store, and the API.
import {h, fill, foreign, list, number, value, copyButton} from './dom.js';
import {panel, emptyView} from './panel.js';
import {address} from './api.js';

const places = {
  rules: ['Rules', 'Which update of an attribute wins.', (ask, at) => ask.get('/v1/rules', {as_of: at}), (d, context) => Object.keys(d.attribute_policies).length
    ? [h('p', null, 'They hold since ', h('a', {href: context.link('events', d.position)}, `event ${number(d.position)}`), '. Of all other attributes the last arrival wins.'), list('Policies', ['Attribute', 'Who wins'], Object.entries(d.attribute_policies).map(([a, p]) => [foreign(a), p.replaceAll('_', ' ')]))]
    : emptyView('No attribute has a policy: the last arrival wins.', 'The workspace file has them (docs/workspace.md).')],
  traits: ['Traits', 'Values that are computed of each person’s history.', (ask) => ask.get('/v1/traits'), (d) => d.traits.length
    ? list('Traits', ['Trait', 'Function', 'Of what'], d.traits.map(({name, function: f, ...rest}) => [foreign(name), f, Object.entries(rest).map(([k, v]) => [h('span', {class: 'dim'}, `${k} `), value(v), ' '])]))
    : emptyView('No traits are declared.', 'The workspace file declares them (docs/traits.md).')],
  states: ['States', 'Folded histories that make reads fast. Each can be folded again.', async (ask) => ({s: await ask.get('/v1/stats'), r: await ask.get('/v1/replay').catch((e) => { if (e.name === 'AbortError') throw e; return {error: e}; })}),
    ({s, r}) => [list('How far they are', ['Fact', 'Value'], [['Log', `to position ${number(s.last_position)}`], ['Caches', `to position ${number(s.indexed_position)}; what is newer is read from the log`],
      ['Outdated states', s.outdated_states?.join(', ') || 'none'], ['Folded again now', r.error ? r.error.error : r.shadow ? `${number(r.shadow.users_done)} of ${number(r.shadow.users)} people, to swap: ${r.shadow.complete ? 'ready' : 'not yet'}` : 'no']]),
      h('h3', null, 'Rows of the file'), list('Rows', ['Table', 'Rows'], Object.entries(s.rows).map(([k, v]) => [k, number(v)]))]],
  api: ['API', 'All that this page does is done by these requests.', (ask) => ask.get('/openapi.json'), api],
};
/** Each endpoint is one line; what belongs to it is made when it is opened. */
function api(doc, context) {
  const all = Object.entries(doc.paths).flatMap(([path, of]) => Object.entries(of).filter(([, o]) => o.summary).map(([method, o]) => ({path, method: method.toUpperCase(), o})));
  const box = h('div'), find = h('input', {id: 'endpoint', type: 'search', value: context.params.find ?? '', on: {input() { context.set({find: find.value}); }}});
  const name = (x) => x?.$ref ? doc.components.schemas[x.$ref.split('/').pop()] : x;
  const type = (t) => t?.enum ? t.enum.join(' | ') : [t?.type ?? 'any'].flat().join(' or ');
  const props = (schema, required = name(schema)?.required ?? []) => list('Members', ['Member', 'Form', 'What it is'], Object.entries(name(schema)?.properties ?? {}).map(([k, v]) => [h('code', null, k, required.includes(k) ? ' *' : ''), type(name(v)), name(v)?.description ?? '']));
  function open(element, {path, method, o}) {
    const body = o.requestBody?.content['application/json']?.schema, answer = Object.values(o.responses ?? {})[0]?.content?.['application/json']?.schema;
    fill(element, o.description ? h('p', {class: 'dim'}, o.description) : null, o.parameters?.length ? [h('h3', null, 'Parameters'), list('Parameters', ['Name', 'Form', 'What it is'], o.parameters.map((p) => [h('code', null, p.name, p.required ? ' *' : ''), type(p.schema), p.schema?.description ?? p.description ?? '']))] : null,
      body ? [h('h3', null, 'Body'), props(body)] : null, answer ? [h('h3', null, 'Answer'), props(answer)] : null, method === 'GET' ? copyButton(`curl -s -H "Authorization: Bearer $PROFILELOG_KEY" '${address(path)}'`, 'Copy as curl') : null);
  }
  function draw() {
    const word = (context.params.find ?? '').toLowerCase(), found = all.filter((e) => `${e.method} ${e.path} ${e.o.summary}`.toLowerCase().includes(word));
    fill(box, h('p', {class: 'dim', role: 'status'}, `${found.length} of ${all.length} requests`), found.map((e) => {
      const inner = h('div', {class: 'stack'});
      return h('details', {on: {toggle(event) { if (event.target.open) open(inner, e); else fill(inner); }}}, h('summary', null, h('code', null, `${e.method} ${e.path}`), h('span', {class: 'dim'}, ` ${e.o.summary}`)), inner);
    }));
  }
  place.draw = draw;
  draw();
  return [h('p', {class: 'row'}, h('label', {for: 'endpoint'}, 'Find'), find, h('a', {href: address('/openapi.json').href, target: '_blank', rel: 'noopener'}, 'The OpenAPI document')), box];
}

const place = {};
export function mount(root, context) {
  const [title, text, load, show] = places[context.place];
  delete place.draw;
  context.title(title);
  const p = panel(context, {title, load: (ask) => load(ask, context.at ?? undefined), show: (d) => show(d, context)});
  root.append(h('h1', {tabindex: '-1'}, title), h('p', {class: 'dim'}, text), p.element);
  place.at = context.at;
  place.panel = p;
  p.load();
}
export function update(context) {
  if (place.at !== context.at) { place.at = context.at; place.panel.load(); }
  place.draw?.();
}
