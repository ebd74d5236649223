// Messages: what was sent, or why not, newest first; the in-app messages, and with `user=` what became of each for that person.
import {h, foreign, newID, segments, copyLine} from './dom.js';
import {panel, emptyView} from './panel.js';
import {get, isAbort} from './api.js';
import {table} from './table.js';
import {time} from './time.js';
import {userKey} from './router.js';
import {channelName, fates, fateView, mark, triggerText} from './message.js';

const MOST = 20;
let inApp, sent, fields;
export function mount(root, context) {
  context.title('Messages');
  const at = () => context.at;
  const user = () => context.params.user;
  const open = (message) => context.link('messages', message, {user: user(), at: at()});

  inApp = panel(context, {
    title: 'In-app messages', load: async (ask) => {
      const {messages} = await ask.get('/v1/messages', {});
      if (!user()) return messages.map((m) => ({m}));
      return Promise.all(messages.slice(0, MOST).map(async (m) => {
        try { return {m, list: fates(await ask.get('/v1/messages/explain', {user: user(), message: m.id}), at())}; } catch (error) { if (isAbort(error) || error.code === 'unknown_user') throw error; return {m, list: [{state: 'refused', text: error.error}]}; }
      }));
    },
    empty: (list) => list.length ? null : emptyView('No in-app message is declared.', 'They are shown on devices when an event triggers them:', copyLine('profilecli messages declare messages.json')),
    show: (list) => h('div', {class: 'scroll'}, h('table', {class: 'list'}, h('thead', null, h('tr', null, ['Message', user() ? 'What became of it' : 'It is shown when'].map((t) => h('th', {scope: 'col'}, t)))),
      h('tbody', null, list.slice(0, 100).map(({m, list: became}) => h('tr', null, h('td', null, h('a', {href: open(m.id)}, foreign(m.id))),
        h('td', null, became ? fateView(became) : foreign(m.trigger_conditions.map(triggerText).join(', or ')))))))),
  });

  /** The next sends before `after`; the catalogues that sessions get are no sends. */
  async function page(ask, after) {
    const rows = [];
    for (let i = 0; i < 10 && rows.length < 100; i++) {
      const answer = await ask('/v1/events', {kind: context.params.show === 'not' ? 'messageNotSent' : 'messageSent,messageNotSent', name: context.params.message, user: user(), reverse: true, limit: 200, after});
      rows.push(...answer.events.filter((e) => e.message && (at() === null || e.position <= at())));
      after = answer.cursor;
      if (answer.scanned <= 1 || !after) return {rows, after: null};
    }
    return {rows, after};
  }
  sent = panel(context, {
    title: 'What was sent, or not', load: (ask) => page((p, q) => ask.get(p, q), at() !== null && context.store.position > at() ? at() + 1 : undefined),
    empty: (d) => d.rows.length ? null : user() || context.params.message || context.params.show
      ? emptyView('No send matches.', null, h('button', {type: 'button', on: {click: () => context.set({user: null, message: null, show: null}, {push: true})}}, 'Show all'))
      : emptyView('Nothing was sent.', 'Sends appear when a server sends a campaign, a canvas or a message: POST /messages/send.'),
    show: (first) => {
      let {after} = first;
      const t = table({
        label: 'Sends, newest first', key: (e) => e.position, open: (e) => context.go(context.link('messages', e.message, {user: userKey(e.user), at: at()})),
        columns: [
          {head: 'When', width: '152px', wide: true, cell: (e) => time(e.recorded_at)},
          {head: 'Person', cell: (e) => h('a', {href: context.userLink(e.user, {at: at()})}, foreign(e.user, {cut: false}))},
          {head: 'Message', cell: (e) => h('a', {href: context.link('messages', e.message, {user: userKey(e.user), at: at()})}, foreign(e.message, {cut: false}))},
          {head: 'By', width: '104px', wide: true, cell: (e) => channelName(e.channel)},
          {head: 'Result', width: 'minmax(0, 2fr)', cell: (e) => [mark('message', e.kind === 'messageSent' ? 'effective' : 'refused'), ' ', e.kind === 'messageSent' ? ['sent', e.device ? [' to ', foreign(e.device, {cut: false})] : null] : ['not sent: ', foreign(e.reason, {cut: false})]]}],
        more: async () => {
          if (!after) return [];
          const next = await page((p, q) => get(p, q, {signal: context.signal}), after);
          after = next.after;
          return next.rows;
        }});
      t.set(first.rows);
      return [h('p', {class: 'dim'}, '↑ ↓ choose, Enter shows why.'), t.element];
    },
  });
  const input = (name) => h('input', {id: newID(name), value: context.params[name] ?? '', autocomplete: 'off', spellcheck: 'false'});
  fields = {user: input('user'), message: input('message')};
  const filter = h('form', {class: 'row', on: {submit(event) {
    event.preventDefault();
    context.set({user: fields.user.value.trim(), message: fields.message.value.trim()}, {push: true});
  }}}, h('label', {for: fields.user.id}, 'Person'), fields.user, h('label', {for: fields.message.id}, 'Message'), fields.message, h('button', null, 'Show'),
  segments('Which sends', [['', 'All'], ['not', 'Not sent']], context.params.show ?? '', (show) => context.set({show})));
  root.append(h('h1', {tabindex: '-1'}, 'Messages'), filter, inApp.element, sent.element);
  context.ready.then(() => { if (!context.signal.aborted) update(context); });
}
export function update(context) {
  for (const [name, field] of Object.entries(fields)) field.value = context.params[name] ?? '';
  inApp.setTitle(context.params.user ? ['In-app messages for ', foreign(context.params.user)] : 'In-app messages');
  inApp.load();
  sent.load();
}
