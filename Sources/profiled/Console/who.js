// Who else? From one cause to everybody.
//   whoElse(root, {context, user, event, field, at, value, vs})   fills `root` (an empty element); returns its element
//     context   the place's context (context.link, context.signal)
//     event     the event of the cause, as EVENT of the API or `set` of blame: position, kind, source, device, name, …
//     user      user key of the person from whom one came          field   'custom.level' or 'email', or null
//     at        the moment of handle A as a position, null for now    vs   handle B, or null
//     value     the field's value at `at`, for the first condition
// It offers the causes of that event (the event itself, its device, its source, its name or field), the condition
// `where`, who would enter and leave, sizes then and now, and who changed between the two handles.
import {isAbort} from './api.js';
import {count, facts, h, fill, foreign, newID, number, printable, say} from './dom.js';
import {panel, emptyView} from './panel.js';
import {condition, fieldName, whereField} from './where.js';

const LISTED = 100;

/** Bars of one scale, each with its number as text. */
export function bars(rows) {
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return facts(...rows.map(([name, n, kind = '']) => [name, [count(n, 'person', 'people'), h('div', {class: `bar ${kind}`, vars: {'--part': n / most}})]]));
}
export function whoElse(root, {context, user, event, field = null, at = null, value, vs = null}) {
  const plain = field?.replace(/^custom\./, '');
  const causes = [event?.position && [`event:${event.position}`, `event ${number(event.position)} alone`], event?.device && [`device:${event.device}`, `everything of ${event.device}`],
    event?.source && [`source:${event.source}`, `everything from ${event.source}`], event?.name && [`name:${event.name}`, `every “${event.name}”`], plain && !/[.[]/.test(plain) && [`name:${plain}`, `every update of ${plain}`]].filter(Boolean);
  const cause = h('select', {id: newID('cause')}, causes.map(([key, text]) => h('option', {value: key}, printable(text))));
  const where = whereField(context, {label: 'Condition', value: field ? condition(plain === field ? field : fieldName(plain), value) : '', ask: () => ask(), button: 'Who else?'});
  const stop = h('button', {type: 'button', on: {click: () => { stopped = true; }}}, 'Stop');
  const progress = h('p', {class: 'row', role: 'status', hidden: true});
  const personLink = (u) => h('a', {href: context.userLink(u, {at, field: plain})}, foreign(u.id ?? `braze:${u.braze_id}`));
  let stopped = false;

  const what = panel(context, {
    title: 'Without this cause', level: 3,
    async load(ask) {
      stopped = false;
      const w = where.value || undefined, sum = {changed: 0, lost: 0, entered: 0, left: 0, users: 0, fields: new Map(), samples: [], where: w};
      let after, budget = 1000;
      try {
        for (;;) {
          const a = await ask.get('/v1/whatif/profiles', {without: cause.value, where: w, sample: LISTED, budget_ms: budget, after});
          for (const name of ['changed', 'lost', 'entered', 'left', 'users']) sum[name] += a[name] ?? 0;
          for (const f of a.fields) { const key = `${f.group} ${f.field}`, g = sum.fields.get(key) ?? {...f, set: 0, changed: 0, lost: 0}; for (const n of ['set', 'changed', 'lost']) g[n] += f[n]; sum.fields.set(key, g); }
          sum.samples = [...sum.samples, ...a.samples].sort((x, y) => (y.passed !== y.passes) - (x.passed !== x.passes)).slice(0, LISTED);
          Object.assign(sum, {complete: a.complete, reached: a.reached_user_number, total: a.total, position: a.position});
          // Nobody was compared within the budget: one pass over the log takes longer.
          if (a.next === after) budget *= 4;
          if (a.complete || stopped || !a.next || budget > 64_000) break;
          after = a.next;
          progress.hidden = false;
          fill(progress, h('progress', {max: a.total, value: a.reached_user_number, 'aria-label': 'People compared'}), `${number(a.reached_user_number)} of ${number(a.total)} people compared`, stop);
        }
        const [now, then] = w ? await Promise.all([null, at ?? undefined].slice(0, at === null ? 1 : 2).map((as_of) => ask.get('/v1/users', {where: w, count: true, as_of: as_of ?? undefined}))) : [];
        where.fail(null);
        return {...sum, now, then};
      } catch (error) {
        if (where.fail(error)) return {wrong: true};
        throw error;
      } finally { progress.hidden = true; }
    },
    empty: (d) => d.wrong ? h('p', {class: 'dim'}, 'The condition has a mistake.') : d.changed ? null : emptyView(`Without ${causeText()} no profile would differ.`, 'Later events wrote the same values, or it changed nothing.'),
    show(d) {
      const part = d.complete ? '' : ` Only people up to number ${number(d.reached)} of ${number(d.total)} were compared.`;
      const sentence = `Without ${causeText()}, ${count(d.changed, 'profile')} would differ${d.lost ? `, and ${number(d.lost)} would lose a value` : ''}.${d.where ? ` ${count(d.entered, 'person', 'people')} would enter, and ${number(d.left)} would leave.` : ''}${part}`;
      say(sentence);
      const people = (title, list, all) => list.length || all ? [h('h4', null, `${title}: ${number(all)}`), h('ul', {class: 'plain names'}, list.map((s) => h('li', null, personLink(s.user)))), all > list.length ? h('p', {class: 'dim'}, `The first ${list.length} are listed.`) : null] : null;
      const of = (f) => d.samples.filter((s) => s.user && f(s));
      return [h('p', null, sentence), d.where ? bars([d.then && [`At position ${number(at)}`, d.then.count], ['Now', d.now.count, 'now'], ['Now, without it', d.now.count + d.entered - d.left, 'if']].filter(Boolean)) : null,
        d.where ? [people('Would enter', of((s) => s.passes && !s.passed), d.entered), people('Would leave', of((s) => s.passed && !s.passes), d.left)] : null,
        people('Would differ', of((s) => s.passed === s.passes), Math.max(0, d.changed - (d.where ? d.entered + d.left : 0))),
        h('h4', null, 'Fields'), h('ul', {class: 'plain'}, [...d.fields.values()].slice(0, 20).map((f) => h('li', null, foreign(f.field), h('span', {class: 'dim'}, ` ${[f.changed && `${number(f.changed)} changed`, f.lost && `${number(f.lost)} lost`, f.set && `${number(f.set)} set`].filter(Boolean).join(', ')}`)))),
        d.where ? h('p', null, h('button', {type: 'button', on: {click: () => sizes.load(d.where)}}, 'Sizes through time')) : null];
    },
  });
  /** Ten moments of the log; each folds all people of then, so only when it is asked for. */
  const sizes = panel(context, {
    title: 'Sizes through time', level: 3,
    async load(ask, w) {
      sizes.element.hidden = false;
      const end = context.store.position ?? at ?? 1, points = [...new Set(Array.from({length: 10}, (_, i) => Math.max(1, Math.round(end * (i + 1) / 10))))], all = [];
      for (const p of points) all.push([`Position ${number(p)}`, (await ask.get('/v1/users', {where: w, count: true, as_of: p})).count, p === end ? 'now' : '']);
      return all;
    },
    show: bars,
  });
  sizes.element.hidden = true;
  const [a, b] = vs === null ? [at, null] : at === null ? [vs, null] : [Math.min(at, vs), Math.max(at, vs)];
  const between = panel(context, {
    title: a === null ? 'Who changed' : `Who changed between position ${number(a)} and ${b === null ? 'now' : number(b)}`, level: 3,
    /** Each page looks at all people up to its end; further ones by button. */
    async load(ask, before = {users: [], created: 0}) {
      const d = await ask.get('/v1/diff', {a, b: b ?? undefined, limit: LISTED, after: before.users.at(-1)?.user.number});
      return {users: [...before.users, ...d.users], created: before.created + d.created, more: d.more};
    },
    empty: (d) => d.users.length ? null : emptyView('Nobody changed between these moments.'),
    show(d) {
      const mine = plain ? d.users.filter((u) => u.changes.some((c) => c.field === plain || c.field.startsWith(`${plain}.`))) : d.users;
      return [h('p', null, `${count(d.users.length, 'person', 'people')}${d.more ? ' or more' : ''}, of whom ${number(d.created)} came new${plain ? `; ${number(mine.length)} with another ${printable(plain)}` : ''}.`), h('ul', {class: 'plain names'}, mine.slice(0, 3 * LISTED).map((u) => h('li', null, personLink(u.user)))),
        d.more ? h('button', {type: 'button', on: {click: () => between.load(d)}}, 'Look at more people') : null];
    },
  });
  const causeText = () => printable(causes.find(([key]) => key === cause.value)?.[1] ?? cause.value);
  const ask = () => { what.load().catch((error) => { if (!isAbort(error)) throw error; }); };
  cause.addEventListener('change', ask);
  const heading = h('h2', {tabindex: '-1'}, 'Who else?');
  const element = h('section', {class: 'panel stack', 'aria-label': 'Who else?'}, heading, h('p', {class: 'dim'}, 'What would be if something had not happened. Nothing is written.'),
    causes.length ? h('div', {class: 'row'}, h('label', {for: cause.id}, 'Without'), cause) : null, where.element, progress, what.element, sizes.element, a === null ? null : between.element);
  fill(root, element);
  if (causes.length) ask(); else what.element.hidden = true;
  if (a !== null) between.load();
  heading.focus();
  return element;
}
