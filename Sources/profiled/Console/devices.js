// Devices: who is on each, when it launched last, what waits on it; with `at=` the list of then. One opens a phone.
import {copyLine} from './copy.js';
import {dim, h1, number, para, ref, uncut} from './dom.js';
import {emptyView, panel} from './panel.js';
import {table} from './table.js';
import {time} from './time.js';
import {person, plain} from './words.js';

/** What of a device is not as usual, in words. */
export const unusual = ({app_removed, settings: s}) => [app_removed && 'app removed', !s.online && 'offline', !s.sdk_enabled && 'SDK off', s.force_quit && 'force quit', !s.sdk_instance && 'SDK not made',
  s.permission !== 'granted' && `pushes ${plain(s.permission)}`, s.request_policy === 'manual' && 'sends on request'].filter(Boolean).join(', ');

let list = null;
export function mount(root, context) {
  context.title('Devices');
  const query = () => ({limit: 200, as_of: context.as_of}), link = (d) => context.link('devices', d.device, {at: context.at});
  list = panel(context, {
    title: 'All devices', load: (ask) => ask.get('/v1/devices', query()),
    empty: (d) => d.devices.length ? null : emptyView(context.at === null ? 'No device is known.' : 'No device was known at that moment.', 'A device appears when something is saved, logged or launched on it:', copyLine('profilecli launch phone')),
    show: ({devices, total, more}) => {
      const rows = table({
        label: 'Devices', open: (d) => context.go(link(d)),
        columns: [{head: 'Device', cell: (d) => ref(link(d), uncut(d.device))}, {head: 'Person', cell: (d) => d.user ? person(d.user, {params: {at: context.at}}) : dim('nobody')},
          {head: 'Waits', num: true, width: '56px', cell: (d) => number(d.waiting)}, {head: 'In the SDK', num: true, width: '80px', cell: (d) => number(d.queued)},
          {head: 'Last launch', wide: true, width: '176px', cell: (d) => d.last_launch ? time(d.last_launch.at) : dim('never')}, {head: 'Session since', wide: true, width: '176px', cell: (d) => d.session ? time(d.session.at) : dim('none')},
          {head: 'Not as usual', wide: true, cell: (d) => unusual(d) || dim('–')}],
        more: async (ask) => {
          if (!more) return [];
          const next = await ask('/v1/devices', {...query(), after: rows.rows.at(-1).device});
          ({more} = next);
          return next.devices;
        }});
      rows.set(devices);
      return [para('dim', `${number(total)} in all. ↑ ↓ choose, Enter opens.`), rows.element];
    },
  });
  root.append(h1('Devices'), list.element);
  list.load();
  context.on('wrote', () => list.reload());
}
export const update = () => { list.load(); };
