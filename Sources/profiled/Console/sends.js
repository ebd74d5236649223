// Messages: what was sent, or why not, newest first; and the in-app messages.
import {copyLine} from './copy.js';
import {button, dim, foreign, h, h1, named, para, ref, segments, uncut} from './dom.js';
import {emptyView, panel} from './panel.js';
import {userKey} from './router.js';
import {list, table} from './table.js';
import {time} from './time.js';
import {beyond, byThen, eventsBy, fate, fatesOf, fateView, mark, person, plain, sendsOf, sendSteps, tally, triggers} from './words.js';

const MOST = 20, failures = {not: 'messageNotSent', lost: 'pushNotReceived'};
let change = null;
export function mount(root, context) {
  context.title('Messages');
  const chosen = () => context.params, open = (message, user) => context.link('messages', message, {user, at: context.at});
  const inApp = panel(context, {
    title: 'In-app messages',
    load: async ({get: ask}) => {
      const {messages} = await ask('/v1/messages'), {user} = chosen();
      return user ? Promise.all(messages.slice(0, MOST).map(async (m) => ({m, became: await fatesOf(ask, user, m.id, context.at)}))) : messages.slice(0, 100).map((m) => ({m}));
    },
    empty: (all) => all.length ? null : emptyView('No in-app message is declared.', 'They are shown on devices when an event triggers them:', copyLine('profilecli messages declare messages.json')),
    show: (all) => list('In-app messages', ['Message', chosen().user ? 'What became of it' : 'It is shown when'], all.map(({m, became}) => [ref(open(m.id, chosen().user), foreign(m.id)), became ? fateView(became) : foreign(triggers(m))])),
  });
  const became = ({kind, state, text}) => [mark(kind, state), uncut(text)];
  /** The next sends before `after`. What became of one is a later event: newest first, it is known already. */
  async function page(ask, after, later = new Map()) {
    const {user, message, show} = chosen(), only = failures[show];
    const found = await eventsBy(ask, {kind: only ?? sendSteps, name: message, user, reverse: true, limit: 200, after}), events = byThen(found.events, context.at);
    return {rows: only ? events : sendsOf(events, later), after: found.after, later};
  }
  const sent = panel(context, {
    title: 'What was sent, or not', async load({get: ask}) {
      let d = await page(ask, await beyond(context));
      while (!d.rows.length && d.after) d = await page(ask, d.after, d.later);
      return d;
    },
    empty: (d) => d.rows.length ? null : chosen().user || chosen().message || chosen().show ? emptyView({not: 'All was sent. See also Not received.', lost: 'No device refused a push.'}[chosen().show] ?? 'No send matches.', null, button('Show all', () => context.set({user: null, message: null, show: null}, {push: true})))
      : emptyView('Nothing was sent.', 'Sends appear when a server sends a campaign, a canvas or a message: POST /messages/send.'),
    show: ({rows, after, later}) => {
      const t = table({
        label: 'Sends, newest first', open: (e) => context.go(e.message ? open(e.message, userKey(e.user)) : context.link('events', (e.then ?? e).position)),
        columns: [{head: 'When', width: '152px', wide: true, cell: (e) => time(e.recorded_at)}, {head: 'Person', cell: (e) => person(e.user, {params: {at: context.at}})},
          {head: 'Message', wide: true, cell: (e) => e.message ? ref(open(e.message, userKey(e.user)), uncut(e.message)) : dim('without an ID')}, {head: 'By', width: '104px', wide: true, cell: (e) => plain(e.channel)},
          {head: 'Result', width: 'minmax(0, 4fr)', cell: (e) => [became(fate({...e.then ?? e, channel: null})), e.then || e.kind !== 'messageSent' ? null : dim('; more is not known')]}],
        more: async (ask) => {
          let next = [];
          while (after && !next.length) ({rows: next, after} = await page(ask, after, later));
          return next;
        }});
      t.set(rows);
      const {message, show} = chosen();
      return [show ? null : para('verdict', message ? [foreign(message), ': '] : null, `${after ? `The latest ${rows.length}: ` : ''}${tally(rows)}.`), para('dim', '↑ ↓ choose, Enter shows why.'), t.element];
    },
  });
  const user = named('Person'), message = named('Message');
  root.append(h1('Messages'), h('form', {class: 'row', on: {submit: () => context.set({user: user.value.trim(), message: message.value.trim()}, {push: true})}}, user, message, h('button', 'Show'), segments('Which sends', [['', 'All'], ['not', 'Not sent'], ['lost', 'Not received']], chosen().show ?? '', (show) => context.set({show}))), sent.element, inApp.element);
  change = () => {
    [user.value, message.value] = [chosen().user ?? '', chosen().message ?? ''];
    inApp.setTitle(chosen().user ? ['In-app messages for ', foreign(chosen().user)] : 'In-app messages');
    inApp.load();
    sent.load();
  };
  context.whenReady(change);
}
export const update = () => change();
