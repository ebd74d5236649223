// One message: whom it reached and whom not; for one person (`user=`) the chain from its cause to the screen, what came near
// to triggering it, and which part of an audience's condition fails (`segment=` or `where=`).
import {get} from './api.js';
import {copyLine} from './copy.js';
import {button, foreign, h, h1, named, para, ref, say} from './dom.js';
import {emptyView, panel} from './panel.js';
import {list} from './table.js';
import {explainPanel} from './people.js';
import {userKey} from './router.js';
import {between, span, time} from './time.js';
import {beyond, byThen, eventLink, eventsBy, fate, fates, fatesOf, fateView, kindWords, mark, messageSteps, person, sendsOf, stateOf, tally, told, triggers} from './words.js';

const MOST = 20, PEOPLE = 100;
let change = null;
export function mount(root, context) {
  const {id} = context, chosen = () => context.params.user, position = (p) => eventLink(p, `position ${p}`);
  context.title(id);
  const who = panel(context, {
    title: 'Who got it, and who did not',
    load: async ({get: ask}) => {
      const {at, as_of} = context, people = new Map(), newest = await beyond(context);
      const [{events, after}, {messages}, {devices}] = await Promise.all([eventsBy(ask, {name: id, kind: messageSteps, reverse: true, limit: 1000, after: newest}), ask('/v1/messages', {}), ask('/v1/devices', {limit: 100, as_of})]);
      for (const e of byThen(events, at)) {
        if (e.user === null) continue;
        const key = userKey(e.user), {last} = people.get(key) ?? people.set(key, {key, name: e.user, last: new Map()}).get(key);
        if (!last.has(e.channel)) last.set(e.channel, fate(e));
      }
      // An in-app message without a step has no event: who could have seen it on a device is asked one by one.
      const definition = messages.find((m) => m.id === id), others = new Map(definition ? devices.filter((d) => d.user && !people.has(userKey(d.user))).map((d) => [userKey(d.user), d.user.id ?? d.user.braze_id]) : []);
      const asked = await Promise.all([...others].slice(0, MOST).map(async ([key, name]) => ({key, name, all: await fatesOf(ask, key, id, at)})));
      return {definition, sends: sendsOf(byThen(events, at)), people: [...asked.filter((p) => p.all), ...[...people.values()].map((p) => ({...p, all: [...p.last.values()]}))], isAll: others.size <= MOST && !after};
    },
    empty: (d) => d.people.length || d.definition ? null : emptyView('Nobody was sent this message, and no in-app message has this ID.', 'The ID may be written in another way.', ref(context.link('messages'), 'All messages')),
    show: ({definition, sends, people, isAll}) => [
      sends.length ? para('verdict', `${isAll ? '' : 'The latest: '}${tally(sends)}.`) : null,
      definition ? h('p', 'An in-app message', definition.message ? [': “', foreign(definition.message), '”'] : null, '. It is shown when ', foreign(triggers(definition)), '.') : null,
      list('People', ['Person', 'What became of it', 'Why'], people.slice(0, PEOPLE).map((p) => [person(p.name, {params: {at: context.at}}), fateView(p.all),
        button('Why', () => context.set({user: p.key}, {push: true}), {'data-user': p.key, 'aria-pressed': String(p.key === chosen()), 'aria-label': `Why, for ${p.name}`})])),
      isAll && people.length <= PEOPLE ? null : para('dim', 'The latest; ask for others by name.')],
  });

  const why = panel(context, {
    title: 'Why',
    load: async ({get: ask}) => {
      const user = chosen();
      if (!user) return null;
      const answer = await ask('/v1/messages/explain', {user, message: id}), key = userKey(answer.user);
      // An address of a person does not stay in the page's address.
      if (key !== user && user === chosen()) {
        context.params.user = key;
        history.replaceState(null, '', context.link('messages', id, context.params));
      }
      const e = answer.links.at(-1);
      if (e?.kind === 'pushNotReceived' && e.device) [answer.set] = (await eventsBy(ask, {device: e.device, kind: 'deviceChanged', reverse: true, after: e.position, limit: 1})).events;
      return answer;
    },
    empty: (a) => a ? null : emptyView('Here is the chain from the cause to the screen.', 'Choose a person of the list, or name one.'),
    show: (a) => {
      const {at} = context, links = byThen(a.links, at), misses = byThen(a.misses, at), all = fates(a, at);
      say(all.map((f) => f.text).join('; '));
      const entry = (kind, state, text, ...more) => h('li', mark(kind, state), h('div', h('p', h(state === 'refused' ? 'strong' : 'span', foreign(text))), para('small dim', more)));
      const later = (e) => between(links[0].recorded_at, e.recorded_at) < 1 ? null : ` · ${span(between(links[0].recorded_at, e.recorded_at))} later`;
      return [h('div', {class: 'verdict'}, fateView(all)), at !== null && a.reason ? para('dim', 'The sentence is of now; what is listed ends at the chosen moment.') : null,
        h('ol', {class: 'chain plain'}, links.map((e) => entry(e.kind, stateOf(e), told({...e, message: null}), time(e.recorded_at, {form: 'full'}), later(e), ' · ', position(e.position), e.cause ? [' · because of ', Number.isInteger(e.cause) ? position(e.cause) : foreign(e.cause)] : null,
          e.device ? [' · ', ref(context.link('devices', e.device, {at: e.position}), foreign(e.device), ' then')] : null))),
        a.set ? para('dim', 'Settings of the device then: ', position(a.set.position), '.') : null, a.more ? para('dim', 'There are more steps: these are the first.') : null,
        misses.length ? [h('h3', 'What came near, and why it did not trigger it'), h('ul', {class: 'chain plain'}, misses.toReversed().map((m) => entry(m.kind, 'refused', m.reason, kindWords(m.kind), ' · ', time(m.at, {form: 'full'}), ' · ', position(m.position), m.look ? copyLine(m.look) : null)))] : null];
    },
  });
  const condition = explainPanel(context, 'Which part of the condition fails', (a) => a ? null : emptyView('A send to a segment leaves no event for those who are not in it.', `${chosen() ? 'Choose' : 'Choose a person, then'} the segment of the campaign, or write a condition.`));

  const form = (submit, ...content) => h('form', {class: 'row', on: {submit: () => context.set(submit(), {push: true})}}, content);
  const name = named('Person'), where = named('Condition', 'custom.level >= 3'), segment = h('select', {'aria-label': 'Segment', hidden: true, on: {change() { where.hidden = segment.value !== ''; }}}, h('option', {value: ''}, 'a condition'));
  why.element.insertBefore(form(() => ({user: name.value.trim()}), name, h('button', 'Why?')), why.body);
  condition.element.insertBefore(form(() => ({segment: segment.value, where: segment.value ? null : where.value.trim()}), segment, where, h('button', 'Check')), condition.body);
  root.append(h1(foreign(id)), h('div', {class: 'two'}, who.element, h('div', {class: 'panels'}, why.element, condition.element)));

  let shownAt;
  change = () => {
    const {params, at, as_of} = context, user = chosen();
    [name.value, where.value, segment.value] = [user ?? '', params.where ?? '', params.segment ?? ''];
    where.hidden = segment.value !== '';
    if (shownAt !== at) who.load(); else for (const b of who.body.querySelectorAll('[data-user]')) b.ariaPressed = b.dataset.user === user;
    shownAt = at;
    why.setTitle(user ? ['Why, for ', foreign(user)] : 'Why');
    why.load();
    condition.load(user && (params.segment || params.where) ? {user, segment: params.segment, where: params.segment ? undefined : params.where, as_of} : null);
  };
  context.whenReady(async () => {
    change();
    if (!context.has('GET /segments/list') || !context.can('segments.list')) return;
    try {
      const {segments} = await get('/segments/list', {page: 0}, {signal: context.signal});
      segment.append(...segments.map((s) => h('option', {value: s.id}, s.name)));
      segment.hidden = !segments.length;
      segment.value = context.params.segment ?? '';
      where.hidden = segment.value !== '';
    } catch { /* a condition can be written all the same */ }
  });
}
export const update = () => change();
