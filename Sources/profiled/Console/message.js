// One message: whom it reached and whom not; for one person (`user=`) the chain from its cause to the screen, what came near
// to triggering it, and which part of an audience's condition fails (`segment=` or `where=`).
import {h, foreign, value, say, copyLine} from './dom.js';
import {panel, emptyView} from './panel.js';
import {get} from './api.js';
import {userKey} from './router.js';
import {time, span, between} from './time.js';
import {ask, beyond, byThen, eventsBy, fates, fateView, isStep, mark, para, spoken, stateOf, told, triggers} from './steps.js';

const MOST = 20, PEOPLE = 100;
const steps = 'messageSent,messageNotSent,pushReceived,pushNotReceived,pushCaptured,pushOpened,pushDismissed,inAppMessageShown,inAppMessageWaiting,inAppMessageIgnored,inAppMessageDiscarded,inAppMessageClicked,inAppMessageClosed';
let change = null;
export function mount(root, context) {
  const {id} = context;
  const chosen = () => context.params.user;
  const position = (p) => h('a', {href: context.link('events', p)}, `position ${p}`);
  context.title(id);

  const who = panel(context, {
    title: 'Who got it, and who did not',
    load: async ({get}) => {
      const {at} = context;
      const [{events, after}, {messages}, {devices}] = await Promise.all([eventsBy(get, {name: id, kind: steps, reverse: true, limit: 1000, after: beyond(context)}), get('/v1/messages'), get('/v1/devices', {limit: 100, as_of: at ?? undefined})]);
      const people = new Map();
      for (const e of byThen(events, at)) {
        if (e.user === null) continue;
        const key = userKey(e.user), person = people.get(key) ?? {key, name: e.user, last: new Map()};
        people.set(key, person);
        if (!person.last.has(e.channel)) person.last.set(e.channel, {state: stateOf(e), text: told(e)});
      }
      // An in-app message without a step has no event: those on whose device it could have been shown are asked one by one.
      const definition = messages.find((m) => m.id === id);
      const others = definition || !people.size ? [...new Map(devices.filter((d) => d.user).map((d) => [userKey(d.user), d.user.id ?? d.user.braze_id]))].filter(([key]) => !people.has(key)) : [];
      const asked = await Promise.all(others.slice(0, MOST).map(async ([key, name]) => ({key, name, last: await ask(get, key, id, at)})));
      return {definition, people: [...asked.filter((p) => p.last), ...people.values()], isAll: others.length <= MOST && !after};
    },
    empty: (d) => d.people.length || d.definition ? null : emptyView('Nobody was sent this message, and no in-app message has this ID.', 'The ID may be written in another way.', h('a', {href: context.link('messages')}, 'All messages')),
    show: ({definition, people, isAll}) => [
      definition ? para('', 'An in-app message', definition.message ? [': “', foreign(definition.message), '”'] : null, '. It is shown when ', foreign(triggers(definition)), '.') : null,
      h('div', {class: 'scroll'}, h('table', {class: 'list'}, h('thead', null, h('tr', null, ['Person', 'What became of it', 'Why'].map((t) => h('th', {scope: 'col'}, t)))), h('tbody', null, people.slice(0, PEOPLE).map((p) => h('tr', null,
        h('td', null, h('a', {href: context.userLink(p.name, {at: context.at})}, foreign(p.name))), h('td', null, fateView([...p.last.values()])),
        h('td', null, h('button', {type: 'button', 'data-user': p.key, 'aria-pressed': String(p.key === chosen()), 'aria-label': `Why, for ${p.name}`, on: {click: () => context.set({user: p.key}, {push: true})}}, 'Why'))))))),
      isAll && people.length <= PEOPLE ? null : para('dim', 'These are the latest. Ask for another person by name.')],
  });

  const why = panel(context, {
    title: 'Why',
    load: async ({get}) => {
      const user = chosen();
      if (!user) return null;
      const answer = await get('/v1/messages/explain', {user, message: id}), key = userKey(answer.user);
      // An address of a person does not stay in the page's address.
      if (key !== user && user === chosen()) {
        context.params.user = key;
        history.replaceState(null, '', context.link('messages', id, context.params));
      }
      return answer;
    },
    empty: (a) => a ? null : emptyView('Here is the chain from the cause to the screen.', 'Choose a person of the list, or name one.'),
    show: (a) => {
      const {at} = context, links = byThen(a.links, at), misses = byThen(a.misses, at);
      say(fates(a, at).map((f) => f.text).join('; '));
      const entry = (shape, state, text, ...more) => h('li', null, mark(shape, state), h('div', null, para('', h(state === 'refused' ? 'strong' : 'span', null, foreign(text))), para('small dim', more)));
      return [
        h('div', {class: 'verdict'}, fateView(fates(a, at))), at !== null && a.reason ? para('dim', 'The sentence is of now; what is listed ends at the chosen moment.') : null,
        h('ol', {class: 'chain plain'}, links.map((e) => entry(isStep(e) ? 'message' : /^app|^session/.test(e.kind) ? 'launch' : 'event', stateOf(e), told(e), time(e.recorded_at, {form: 'full'}), between(links[0].recorded_at, e.recorded_at) < 1 ? null : ` · ${span(between(links[0].recorded_at, e.recorded_at))} later`,
          ' · ', position(e.position), e.cause ? ` · because of ${e.cause}` : null, e.device ? [' · ', h('a', {href: context.link('devices', e.device, {at: e.position})}, foreign(e.device), ' then')] : null))),
        a.more ? para('dim', 'There are more steps: these are the first.') : null,
        misses.length ? [h('h3', null, 'What came near, and why it did not trigger it'), h('ul', {class: 'chain plain'}, misses.toReversed().map((m) => entry('event', 'refused', m.reason, spoken(m.kind), ' · ', time(m.at, {form: 'full'}), ' · ', position(m.position), m.look ? copyLine(m.look) : null)))] : null];
    },
  });

  const part = (p) => h('li', {vars: {'--depth': p.depth}}, para('', h('strong', {class: p.holds ? 'ok' : 'bad'}, p.holds ? 'holds' : 'does not hold'), p.decides ? ', and decides: ' : ': ', h('code', null, foreign({and: 'all of these', or: 'any of these', not: 'not this'}[p.kind] ?? p.text))),
    'field' in p ? para('small dim', p.value === null ? 'There is no value' : ['The value is ', value(p.value)], p.set ? [', since ', time(p.set.recorded_at), ', ', position(p.set.position)] : p.reason ? [': ', foreign(p.reason)] : null, '.') : null);
  const condition = panel(context, {
    title: 'Which part of the condition fails',
    load: ({get}) => {
      const {segment, where} = context.params;
      return chosen() && (segment || where) ? get('/v1/users/explain', {user: chosen(), segment, where: segment ? undefined : where, as_of: context.at ?? undefined}) : null;
    },
    empty: (a) => a ? null : emptyView('A send to a segment leaves no event for those who are not in it.', `${chosen() ? 'Choose' : 'Choose a person, then'} the segment of the campaign, or write a condition.`),
    show: (a) => [para('', h('strong', {class: a.holds ? 'ok' : 'bad'}, a.holds ? 'In it. ' : 'Not in it. '), foreign(a.reason)), h('ul', {class: 'parts plain'}, a.parts.map(part))],
  });

  const text = (label) => h('input', {'aria-label': label, placeholder: label, autocomplete: 'off', spellcheck: 'false'});
  const form = (submit, ...content) => h('form', {class: 'row', on: {submit(event) { event.preventDefault(); context.set(submit(), {push: true}); }}}, content);
  const person = text('Person'), where = text('Condition, as custom.level >= 3'), segment = h('select', {'aria-label': 'Segment', hidden: true}, h('option', {value: ''}, 'a condition'));
  const audience = form(() => ({segment: segment.value, where: segment.value ? null : where.value.trim()}), segment, where, h('button', null, 'Check'));
  segment.addEventListener('change', () => { where.hidden = segment.value !== ''; });
  why.element.insertBefore(form(() => ({user: person.value.trim()}), person, h('button', null, 'Why?')), why.body);
  condition.element.insertBefore(audience, condition.body);
  root.append(h('h1', {tabindex: '-1'}, foreign(id)), h('div', {class: 'two'}, who.element, h('div', {class: 'panels'}, why.element, condition.element)));

  let shownAt;
  change = () => {
    const {params, at} = context;
    [person.value, where.value, segment.value] = [chosen() ?? '', params.where ?? '', params.segment ?? ''];
    where.hidden = segment.value !== '';
    if (shownAt !== at) who.load(); else for (const b of who.body.querySelectorAll('[data-user]')) b.setAttribute('aria-pressed', String(b.dataset.user === chosen()));
    shownAt = at;
    why.setTitle(chosen() ? ['Why, for ', foreign(chosen())] : 'Why');
    why.load();
    if (!condition.element.hidden) condition.load();
  };
  context.ready.then(async () => {
    if (context.signal.aborted) return;
    condition.element.hidden = !context.has('GET /v1/users/explain');
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
