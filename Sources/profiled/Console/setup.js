// Setup, read only: rules, traits, states of the store, and the API.
import {address} from './api.js';
import {dim, foreign, h, h1, number, para, ref, value} from './dom.js';
import {emptyView, panel} from './panel.js';
import {list} from './table.js';
import {eventLink, plain} from './words.js';

const places = {
  rules: ['Rules', 'Which update of an attribute wins.', (ask, at) => ask.get('/v1/rules', {as_of: at}), (d) => Object.keys(d.attribute_policies).length
    ? [h('p', 'They hold since ', eventLink(d.position, `event ${number(d.position)}`), '. Of all other attributes the last arrival wins.'), list('Policies', ['Attribute', 'Who wins'], Object.entries(d.attribute_policies).map(([name, policy]) => [foreign(name), plain(policy)]))]
    : emptyView('No attribute has a policy: the last arrival wins.', 'The workspace file has them (docs/workspace.md).')],
  traits: ['Traits', 'Values that are computed of each person’s history.', (ask) => ask.get('/v1/traits'), (d) => d.traits.length
    ? list('Traits', ['Trait', 'Function', 'Of what'], d.traits.map(({name, function: f, ...rest}) => [foreign(name), f, Object.entries(rest).map(([k, v]) => [dim(`${k} `), value(v), ' '])]))
    : emptyView('No traits are declared.', 'The workspace file declares them (docs/traits.md).')],
  states: ['States', 'Folded histories that make reads fast. Each can be folded again.', (ask) => ask.get('/v1/stats'), (s) => [list('How far they are', ['Fact', 'Value'], [['Log', `to position ${number(s.last_position)}`], ['Caches', `to position ${number(s.indexed_position)}; what is newer is read from the log`],
      ['Outdated states', s.outdated_states?.join(', ') || 'none']]),
      h('h3', 'Rows of the file'), list('Rows', ['Table', 'Rows'], Object.entries(s.rows).map(([k, v]) => [k, number(v)]))]],
  api: ['API', 'All that this page does is done by these requests.', (ask) => ask.get('/openapi.json'), (doc) => {
    const all = Object.entries(doc.paths).flatMap(([path, of]) => Object.entries(of).filter(([, o]) => o.summary).map(([method, o]) => [h('code', `${method.toUpperCase()} ${path}`), o.summary]));
    return [h('p', ref(address('/openapi.json'), 'The OpenAPI document'), ' has their parameters, bodies and answers.'), list('Requests', ['Request', 'What it does'], all)];
  }],
};
let place = null;
export function mount(root, context) {
  const [title, text, load, show] = places[context.place], p = panel(context, {title, load: (ask) => load(ask, context.as_of), show});
  context.title(title);
  root.append(h1(title), para('dim', text), p.element);
  place = {at: context.at, panel: p};
  p.load();
}
export function update(context) {
  if (place.at !== context.at) { place.at = context.at; place.panel.load(); }
}
