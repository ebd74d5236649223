// Now: how much the store holds, how far it is, what waits and what was refused.
import {h, count, copyLine} from './dom.js';
import {panel, emptyView} from './panel.js';
import {time, span} from './time.js';

let panels = [];
export function mount(root, context) {
  context.title('Overview');
  const facts = (...pairs) => h('dl', {class: 'facts'}, pairs.filter(Boolean).map(([name, v]) => [h('dt', null, name), h('dd', null, v)]));
  const held = panel(context, {
    title: 'What the store holds', load: (ask) => ask.get('/v1/stats'),
    empty: (s) => s.last_position === 0 ? emptyView('The store is empty.', 'It fills as programs save and log. To begin:',
      copyLine('profilecli log event jane "played song"'), copyLine('profilecli save attribute jane level=7'), copyLine('profilecli launch')) : null,
    show: (s) => facts(['Events', s.events.toLocaleString('en')], ['People', h('a', {href: context.link('users')}, s.users.toLocaleString('en'))],
      ['Devices', h('a', {href: context.link('devices')}, s.devices.toLocaleString('en'))], ['Waits on devices', count(s.pending.total, 'item')],
      ['Refused, open', h('a', {href: context.link('rejected')}, s.rejected.open.toLocaleString('en'))], ['File', `${(s.file_bytes / 1024).toLocaleString('en', {maximumFractionDigits: 0})} KB`]),
  });
  const audit = panel(context, {
    title: 'Audit', load: (ask) => ask.get('/v1/status'),
    empty: (s) => s.audit?.at ? null : emptyView('No audit has ended yet.', 'The service proves its answers in the background.'),
    show: ({audit: a}) => [
      h('p', null, a.differences.length ? h('strong', {class: 'bad'}, count(a.differences.length, 'difference')) : h('span', {class: 'ok'}, 'No difference'),
        ` to position ${a.position.toLocaleString('en')}.`),
      facts(['Ended', time(a.at, {form: 'full'})], ['Took', span(a.took_s)], ['People', a.users.toLocaleString('en')])],
  });
  panels = [held, audit];
  root.append(h('h1', {tabindex: '-1'}, 'Overview'), h('div', {class: 'panels'}, panels.map((p) => p.element)));
  panels.forEach((p) => p.load());
  let timer = 0;
  context.on('position', () => { timer ||= setTimeout(() => { timer = 0; if (!context.signal.aborted) panels.forEach((p) => p.load()); }, 2000); });
}
export function update() {}
