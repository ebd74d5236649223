// Who else? First who has the same value, by name. By a button what would be for everybody without its event, device, source, name
// or field; and who changed between the handles.
//   event   the cause, as an event or as `set` of blame      field   'custom.level' or 'email', or null
import {button, count, fill, foreign, h, inRow, labelled, number, para, printable, ref, say} from './dom.js';
import {isPart} from './compare.js';
import {emptyView, panel} from './panel.js';
import {list as rowList} from './table.js';
import {condition, fieldName, quote, whereField} from './where.js';
import {person} from './words.js';

const LISTED = 100;
export function whoElse(root, {context, event, field = null, at = null, value, vs = null}) {
  const plain = field?.replace(/^custom\./, ''), {position, device, source, name} = event, group = plain === field ? 'attributes' : 'custom_attributes';
  const causes = [position && [`event:${position}`, `event ${number(position)} alone`], device && [`device:${device}`, `everything of ${device}`], source && [`source:${source}`, `everything from ${source}`],
    name && [`name:${name}`, `every “${name}”`], plain && !/[.[]/.test(plain) && [`name:${plain}`, `every update of ${plain}`]].filter(Boolean);
  const [causeLabel, cause] = labelled('Without', {on: {change: () => what.load()}}, 'select', causes.map(([key, text]) => h('option', {value: key}, printable(text))));
  const preset = field ? condition(plain === field ? field : fieldName(plain), value) : name ? `events.${quote(name)}.count >= 1` : event.product ? `purchases.${quote(event.product)}.count >= 1` : '';
  const where = whereField(context, {label: 'Condition', ask, button: 'Find', value: preset});
  const people = (users) => h('ul', {class: 'plain names'}, users.map((user) => h('li', person(user, {params: {at, field: plain && plain === field ? `user ${plain}` : plain}}))));
  const causeText = () => printable(causes.find(([key]) => key === cause.value)[1]);

  const same = panel(context, {
    title: 'Who has the same', level: 3,
    async load({get}) {
      const w = where.value, query = {where: w, as_of: at ?? undefined};
      if (!w) return {};
      try {
        const [{users}, counted] = await Promise.all([get('/v1/users', {...query, limit: LISTED}), get('/v1/users', {...query, count: true})]);
        where.fail(null);
        return {...counted, users, w};
      } catch (error) {
        if (where.fail(error)) return {isWrong: true};
        throw error;
      }
    },
    empty: (d) => d.count ? null : para('dim', d.isWrong ? 'The condition has a mistake.' : d.w ? `None of ${count(d.total, 'person', 'people')} passes.` : 'Write a condition.'),
    show({users, count: n, total, w}) {
      const isAlone = n === 1 && w === preset && plain, sentence = `${at === null ? '' : `At position ${number(at)}: `}${isAlone ? 'Nobody else, ' : ''}${number(n)} of ${count(total, 'person', 'people')}`;
      same.setTitle([sentence, ' – ', h('code', printable(w))]);
      say(sentence);
      return [people(users), n > users.length ? para(null, ref(context.link('users', null, {where: w, at}), `All ${number(n)}`)) : null];
    },
  });
  const what = panel(context, {
    title: 'Without this cause', level: 3,
    /** The people who are compared in some seconds; further ones by button. */
    async load(ask, {sum = {changed: 0, lost: 0, entered: 0, left: 0}, fields = new Map(), samples = [], next, budget = 4000} = {}) {
      const w = where.value || undefined;
      try {
        const [a, now] = await Promise.all([ask.get('/v1/whatif/profiles', {without: cause.value, where: w, sample: LISTED, budget_ms: budget, after: next}), w && ask.get('/v1/users', {where: w, count: true})]);
        for (const key in sum) sum[key] += a[key] ?? 0;
        for (const f of a.fields) {
          const name = `${f.group} ${f.field}`, of = fields.get(name) ?? {field: f.field, set: 0, changed: 0, lost: 0};
          for (const key of ['set', 'changed', 'lost']) of[key] += f[key];
          fields.set(name, of);
        }
        where.fail(null);
        // None was compared within the budget: one pass over the log takes longer.
        return {...sum, sum, where: w, now, samples: [...samples, ...a.samples.filter((s) => s.user)], fields, complete: a.complete, reached: a.reached_user_number, total: a.total, next: a.next, budget: a.next === next ? budget * 4 : budget};
      } catch (error) {
        if (where.fail(error)) return {isWrong: true};
        throw error;
      }
    },
    empty: (d) => d.isWrong ? para('dim', 'The condition has a mistake.') : d.changed || !d.complete ? null : emptyView(`Without ${causeText()} no profile would differ.`, 'Later events wrote the same values, or it changed nothing.'),
    show(d) {
      const sentence = `Without ${causeText()}, ${count(d.changed, 'profile')} would differ${d.lost ? `, and ${number(d.lost)} would lose a value` : ''}.${d.where ? ` ${count(d.now.count, 'person', 'people')} pass now: ${number(d.entered)} would enter, ${number(d.left)} would leave, and ${number(d.now.count + d.entered - d.left)} pass.` : ''}${d.complete ? '' : ` Only people up to number ${number(d.reached)} of ${number(d.total)} were compared.`}`;
      const group = (title, all, isIn) => {
        const found = d.samples.filter(isIn).map((s) => s.user).slice(0, LISTED);
        return all > 0 ? [h('h4', `${title}: ${number(all)}`), people(found), all > found.length ? para('dim', `The first ${found.length} are listed.`) : null] : null;
      };
      say(sentence);
      return [h('p', sentence), d.where ? [group('Would enter', d.entered, (s) => s.passes && !s.passed), group('Would leave', d.left, (s) => s.passed && !s.passes)] : null,
        group('Would differ', d.changed - (d.where ? d.entered + d.left : 0), (s) => s.passed === s.passes),
        h('h4', 'Fields'), rowList('Fields', ['Field', 'Changed', 'Lost', 'Set'], [...d.fields.values()].slice(0, 20).map((f) => [foreign(f.field), number(f.changed), number(f.lost), number(f.set)])), d.complete || !d.next ? null : button('Compare more people', () => what.load(d))];
    },
  });
  const [a, b] = vs === null ? [at, null] : at === null ? [vs, null] : [Math.min(at, vs), Math.max(at, vs)];
  const between = panel(context, {
    title: a === null ? 'Who changed' : `Who changed between position ${number(a)} and ${b === null ? 'now' : number(b)}`, level: 3,
    load: (ask) => ask.get('/v1/diff', {a, b, limit: 3 * LISTED}),
    empty: (d) => d.users.length ? null : emptyView('Nobody changed between these moments.'),
    show(d) {
      const mine = plain ? d.users.filter((u) => u.changes.some((c) => c.group === group && isPart(c.field, plain))) : d.users;
      return [h('p', `${count(d.users.length, 'person', 'people')}${d.more ? ' or more' : ''}, of whom ${number(d.created)} came new${plain ? `; ${number(mine.length)} with another ${printable(plain)}` : ''}.`), people(mine.map((u) => u.user))];
    },
  });
  const heading = h('h2', {tabindex: '-1'}, 'Who else?'), ifNot = h('div', {class: 'stack', hidden: true}, para('dim', 'Nothing is written.'), inRow(causeLabel, cause), what.element);
  const opener = button('What if it had not happened?', () => {
    opener.ariaExpanded = String(ifNot.hidden);
    ifNot.hidden = !ifNot.hidden;
    if (!ifNot.hidden) what.load();
  }, {'aria-expanded': 'false'});
  function ask() { if (!ifNot.hidden) what.load(); return same.load(); }
  fill(root, h('section', {class: 'panel stack', 'aria-label': 'Who else?'}, heading, same.element, where.element, inRow(opener), ifNot, a === null ? null : between.element));
  ask().then(() => heading.parentNode.scrollIntoView({block: 'nearest'}));
  if (a !== null) between.load();
  heading.focus({preventScroll: true});
}
