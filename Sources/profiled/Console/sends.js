// Messages: what was sent, or why not, newest first; the in-app messages, and with `user=` what became of each for that person.
import {h, foreign, segments, copyLine} from './dom.js';
import {panel, emptyView} from './panel.js';
import {get} from './api.js';
import {table} from './table.js';
import {time} from './time.js';
import {userKey} from './router.js';
import {ask, beyond, byThen, eventsBy, fateView, mark, para, plain, triggers} from './steps.js';

const MOST = 20;
let change;
export function mount(root, context) {
  context.title('Messages');
  const {params} = context, chosen = () => context.params;
  const open = (message, user) => context.link('messages', message, {user, at: context.at});

  const inApp = panel(context, {
    title: 'In-app messages',
    load: async ({get}) => {
      const {messages} = await get('/v1/messages'), {user} = chosen();
      return user ? Promise.all(messages.slice(0, MOST).map(async (m) => ({m, became: await ask(get, user, m.id, context.at)}))) : messages.slice(0, 100).map((m) => ({m}));
    },
    empty: (list) => list.length ? null : emptyView('No in-app message is declared.', 'They are shown on devices when an event triggers them:', copyLine('profilecli messages declare messages.json')),
    show: (list) => h('div', {class: 'scroll'}, h('table', {class: 'list'}, h('thead', null, h('tr', null, ['Message', chosen().user ? 'What became of it' : 'It is shown when'].map((t) => h('th', {scope: 'col'}, t)))),
      h('tbody', null, list.map(({m, became}) => h('tr', null, h('td', null, h('a', {href: open(m.id, chosen().user)}, foreign(m.id))), h('td', null, became ? fateView(became) : foreign(triggers(m)))))))),
  });

  /** The next sends before `after`. What a session gets, the catalogue of in-app messages, is no send. */
  async function page(get, after) {
    const {user, message, show} = chosen();
    const page = await eventsBy(get, {kind: show === 'not' ? 'messageNotSent' : 'messageSent,messageNotSent', name: message, user, reverse: true, limit: 200, after});
    return {rows: byThen(page.events, context.at).filter((e) => e.message), after: page.after};
  }
  const sent = panel(context, {
    title: 'What was sent, or not', load: (ask) => page(ask.get, beyond(context)),
    empty: (d) => d.rows.length ? null : chosen().user || chosen().message || chosen().show
      ? emptyView('No send matches.', null, h('button', {type: 'button', on: {click: () => context.set({user: null, message: null, show: null}, {push: true})}}, 'Show all'))
      : emptyView('Nothing was sent.', 'Sends appear when a server sends a campaign, a canvas or a message: POST /messages/send.'),
    show: ({rows, after}) => {
      const t = table({
        label: 'Sends, newest first', key: (e) => e.position, open: (e) => context.go(open(e.message, userKey(e.user))),
        columns: [
          {head: 'When', width: '152px', wide: true, cell: (e) => time(e.recorded_at)},
          {head: 'Person', cell: (e) => h('a', {href: context.userLink(e.user, {at: context.at})}, foreign(e.user, {cut: false}))},
          {head: 'Message', wide: true, cell: (e) => h('a', {href: open(e.message, userKey(e.user))}, foreign(e.message, {cut: false}))},
          {head: 'By', width: '104px', wide: true, cell: (e) => plain(e.channel)},
          {head: 'Result', width: 'minmax(0, 2fr)', cell: (e) => e.kind === 'messageSent' ? [mark('message', 'effective'), ' sent', e.device ? [' to ', foreign(e.device, {cut: false})] : ''] : [mark('message', 'refused'), ' not sent: ', foreign(e.reason, {cut: false})]}],
        more: async () => {
          let rows = [];
          while (after && !rows.length) ({rows, after} = await page((path, query) => get(path, query, {signal: context.signal}), after));
          return rows;
        }});
      t.set(rows);
      return [para('dim', '↑ ↓ choose, Enter shows why.'), t.element];
    },
  });
  const field = (name, label) => h('input', {name, 'aria-label': label, placeholder: label, value: params[name] ?? '', autocomplete: 'off', spellcheck: 'false'});
  const user = field('user', 'Person'), message = field('message', 'Message');
  root.append(h('h1', {tabindex: '-1'}, 'Messages'), h('form', {class: 'row', on: {submit(event) {
    event.preventDefault();
    context.set({user: user.value.trim(), message: message.value.trim()}, {push: true});
  }}}, user, message, h('button', null, 'Show'), segments('Which sends', [['', 'All'], ['not', 'Not sent']], params.show ?? '', (show) => context.set({show}))), inApp.element, sent.element);
  change = () => {
    [user.value, message.value] = [chosen().user ?? '', chosen().message ?? ''];
    inApp.setTitle(chosen().user ? ['In-app messages for ', foreign(chosen().user)] : 'In-app messages');
    inApp.load();
    sent.load();
  };
  context.ready.then(() => { if (!context.signal.aborted) change(); });
}
export const update = () => change();
