// Who else? From one cause to everybody: the event itself, its device, its source, its name or field; who would enter and leave a
// condition; sizes then and now; and who changed between the two handles.
//   whoElse(root, {context, event, field, at, value, vs})   fills `root` (an empty element)
//     event   the cause, as an event or as `set` of blame      field   'custom.level' or 'email', or null      value   its value
//     at, vs  the moments of handle A and B as positions, null for now
import {button, count, facts, fill, foreign, h, inRow, labelled, number, para, printable, say} from './dom.js';
import {isPart} from './compare.js';
import {emptyView, panel} from './panel.js';
import {list as rowList} from './table.js';
import {condition, fieldName, whereField} from './where.js';
import {person} from './words.js';

const LISTED = 100;
/** Bars of one scale, each with its number as text. */
function bars(rows) {
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return facts(...rows.map(([name, n, kind = '']) => [name, [count(n, 'person', 'people'), h('div', {class: `bar ${kind}`, vars: {'--part': n / most}})]]));
}
export function whoElse(root, {context, event, field = null, at = null, value, vs = null}) {
  const plain = field?.replace(/^custom\./, ''), {position, device, source, name} = event, group = plain === field ? 'attributes' : 'custom_attributes';
  const causes = [position && [`event:${position}`, `event ${number(position)} alone`], device && [`device:${device}`, `everything of ${device}`], source && [`source:${source}`, `everything from ${source}`],
    name && [`name:${name}`, `every “${name}”`], plain && !/[.[]/.test(plain) && [`name:${plain}`, `every update of ${plain}`]].filter(Boolean);
  const [causeLabel, cause] = labelled('Without', {on: {change: () => what.load()}}, 'select', causes.map(([key, text]) => h('option', {value: key}, printable(text))));
  const where = whereField(context, {label: 'Condition', value: field ? condition(plain === field ? field : fieldName(plain), value) : '', ask: () => what.load(), button: 'Who else?'});
  const progress = h('p', {class: 'row', role: 'status', hidden: true});
  const people = (users) => h('ul', {class: 'plain names'}, users.map((user) => h('li', person(user, {params: {at, field: plain && plain === field ? `user ${plain}` : plain}}))));
  const causeText = () => printable(causes.find(([key]) => key === cause.value)[1]);
  let isStopped = false;
  const stop = button('Stop', () => { isStopped = true; });

  const what = panel(context, {
    title: 'Without this cause', level: 3,
    async load(ask) {
      isStopped = false;
      const w = where.value || undefined, sum = {changed: 0, lost: 0, entered: 0, left: 0}, fields = new Map(), samples = [];
      let a = {}, after, budget = 1000;
      try {
        do {
          a = await ask.get('/v1/whatif/profiles', {without: cause.value, where: w, sample: LISTED, budget_ms: budget, after});
          for (const key in sum) sum[key] += a[key] ?? 0;
          for (const f of a.fields) {
            const of = fields.get(`${f.group} ${f.field}`) ?? fields.set(`${f.group} ${f.field}`, {field: f.field, set: 0, changed: 0, lost: 0}).get(`${f.group} ${f.field}`);
            for (const key of ['set', 'changed', 'lost']) of[key] += f[key];
          }
          samples.push(...a.samples.filter((s) => s.user));
          // Nobody was compared within the budget: one pass over the log takes longer.
          if (a.next === after) budget *= 4;
          after = a.next;
          progress.hidden = a.complete;
          fill(progress, h('progress', {max: a.total, value: a.reached_user_number, 'aria-label': 'People compared'}), `${number(a.reached_user_number)} of ${number(a.total)} people compared`, stop);
        } while (!a.complete && !isStopped && a.next && budget <= 64_000);
        const [now, then] = w ? await Promise.all([null, ...at === null ? [] : [at]].map((as_of) => ask.get('/v1/users', {where: w, count: true, as_of}))) : [];
        where.fail(null);
        return {...sum, where: w, now, then, samples, fields: [...fields.values()], complete: a.complete, reached: a.reached_user_number, total: a.total};
      } catch (error) {
        if (where.fail(error)) return {isWrong: true};
        throw error;
      } finally { progress.hidden = true; }
    },
    empty: (d) => d.isWrong ? para('dim', 'The condition has a mistake.') : d.changed ? null : emptyView(`Without ${causeText()} no profile would differ.`, 'Later events wrote the same values, or it changed nothing.'),
    show(d) {
      const sentence = `Without ${causeText()}, ${count(d.changed, 'profile')} would differ${d.lost ? `, and ${number(d.lost)} would lose a value` : ''}.${d.where ? ` ${count(d.entered, 'person', 'people')} would enter, and ${number(d.left)} would leave.` : ''}${d.complete ? '' : ` Only people up to number ${number(d.reached)} of ${number(d.total)} were compared.`}`;
      const group = (title, all, isIn) => {
        const found = d.samples.filter(isIn).map((s) => s.user).slice(0, LISTED);
        return all > 0 ? [h('h4', `${title}: ${number(all)}`), people(found), all > found.length ? para('dim', `The first ${found.length} are listed.`) : null] : null;
      };
      say(sentence);
      return [h('p', sentence), d.where ? bars([d.then && [`At position ${number(at)}`, d.then.count], ['Now', d.now.count, 'now'], ['Now, without it', d.now.count + d.entered - d.left, 'if']].filter(Boolean)) : null,
        d.where ? [group('Would enter', d.entered, (s) => s.passes && !s.passed), group('Would leave', d.left, (s) => s.passed && !s.passes)] : null,
        group('Would differ', d.changed - (d.where ? d.entered + d.left : 0), (s) => s.passed === s.passes),
        h('h4', 'Fields'), rowList('Fields', ['Field', 'Changed', 'Lost', 'Set'], d.fields.slice(0, 20).map((f) => [foreign(f.field), number(f.changed), number(f.lost), number(f.set)]))];
    },
  });
  const [a, b] = vs === null ? [at, null] : at === null ? [vs, null] : [Math.min(at, vs), Math.max(at, vs)];
  const between = panel(context, {
    title: a === null ? 'Who changed' : `Who changed between position ${number(a)} and ${b === null ? 'now' : number(b)}`, level: 3,
    /** Each page looks at all people up to its end; further ones by button. */
    async load(ask, before = {users: [], created: 0}) {
      const d = await ask.get('/v1/diff', {a, b, limit: LISTED, after: before.users.at(-1)?.user.number});
      return {users: [...before.users, ...d.users], created: before.created + d.created, more: d.more};
    },
    empty: (d) => d.users.length ? null : emptyView('Nobody changed between these moments.'),
    show(d) {
      const mine = plain ? d.users.filter((u) => u.changes.some((c) => c.group === group && isPart(c.field, plain))) : d.users;
      return [h('p', `${count(d.users.length, 'person', 'people')}${d.more ? ' or more' : ''}, of whom ${number(d.created)} came new${plain ? `; ${number(mine.length)} with another ${printable(plain)}` : ''}.`), people(mine.slice(0, 3 * LISTED).map((u) => u.user)), d.more ? button('Look at more people', () => between.load(d)) : null];
    },
  });
  const heading = h('h2', {tabindex: '-1'}, 'Who else?');
  fill(root, h('section', {class: 'panel stack', 'aria-label': 'Who else?'}, heading, para('dim', 'What would be if something had not happened. Nothing is written.'), inRow(causeLabel, cause), where.element, progress, what.element, a === null ? null : between.element));
  what.load();
  if (a !== null) between.load();
  heading.focus();
}
