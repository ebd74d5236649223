// Devices: who is on each, when it launched last, what waits on it. One opens a phone; with `at=` it is the list of then.
import {h, foreign, copyLine} from './dom.js';
import {panel, emptyView} from './panel.js';
import {get} from './api.js';
import {table} from './table.js';
import {time} from './time.js';

/** What of a device is not as usual, in words. */
export const unusual = (d) => [
  d.app_removed && 'app removed', !d.settings.online && 'offline', !d.settings.sdk_enabled && 'SDK off', d.settings.force_quit && 'force quit',
  !d.settings.sdk_instance && 'SDK not made', d.settings.permission !== 'granted' && `pushes ${d.settings.permission.replace('_', ' ')}`,
  d.settings.request_policy === 'manual' && 'sends on request',
].filter(Boolean).join(', ');

let list;
export function mount(root, context) {
  context.title('Devices');
  const asOf = () => ({limit: 200, as_of: context.at ?? undefined});
  const link = (d) => context.link('devices', d.device, {at: context.at});
  list = panel(context, {
    title: 'All devices', load: (ask) => ask.get('/v1/devices', asOf()),
    empty: (d) => d.devices.length ? null : emptyView(context.at === null ? 'No device is known.' : 'No device was known at that moment.',
      'A device appears when something is saved, logged or launched on it:', copyLine('profilecli launch phone')),
    show: (first) => {
      let {more} = first;
      const rows = table({
        label: 'Devices', key: (d) => d.device, open: (d) => context.go(link(d)),
        columns: [
          {head: 'Device', cell: (d) => h('a', {href: link(d)}, foreign(d.device, {cut: false}))},
          {head: 'Person', cell: (d) => d.user ? h('a', {href: context.userLink(d.user, {at: context.at})}, foreign(d.user.id ?? d.user.braze_id, {cut: false})) : h('span', {class: 'dim'}, 'nobody')},
          {head: 'Waits', num: true, width: '56px', cell: (d) => d.waiting.toLocaleString('en')},
          {head: 'In the SDK', num: true, width: '80px', cell: (d) => d.queued.toLocaleString('en')},
          {head: 'Last launch', wide: true, width: '176px', cell: (d) => d.last_launch ? time(d.last_launch.at) : h('span', {class: 'dim'}, 'never')},
          {head: 'Session since', wide: true, width: '176px', cell: (d) => d.session ? time(d.session.at) : h('span', {class: 'dim'}, 'none')},
          {head: 'Not as usual', wide: true, cell: (d) => unusual(d) || h('span', {class: 'dim'}, '–')}],
        more: async () => {
          if (!more) return [];
          const next = await get('/v1/devices', {...asOf(), after: rows.rows.at(-1).device}, {signal: context.signal});
          more = next.more;
          return next.devices;
        }});
      rows.set(first.devices);
      return [h('p', {class: 'dim'}, `${first.total.toLocaleString('en')} in all. ↑ ↓ choose, Enter opens.`), rows.element];
    },
  });
  root.append(h('h1', {tabindex: '-1'}, 'Devices'), list.element);
  list.load();
  context.on('wrote', () => list.reload());
}
export const update = () => { list.load(); };
