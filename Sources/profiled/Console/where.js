// A field for a condition (docs/where.md): it completes names of this store, and underlines where a mistake is.
import {get, isAbort} from './api.js';
import {dim, fill, h, inRow, labelled, newID, para, printable, uncut} from './dom.js';
import {combo} from './search.js';

export const quote = (name) => /^[\w\-$:@]+$/.test(name) ? name : JSON.stringify(name);
const forms = {
  attribute: (n) => `custom.${n}`, user_attribute: (n) => n, event: (n) => `events.${n}.count`, product: (n) => `purchases.${n}.count`,
};
export function condition(field, value) {
  return /^(number|string|boolean)$/.test(typeof value) ? `${field} = ${JSON.stringify(value)}` : `exists(${field})`;
}
/** A custom attribute, or a part of its value, in the language of conditions. */
export const fieldName = (name) => `custom.${name.split('.').map((part) => quote(part.replace(/(\[\d+\])+$/, '')) + (/\]$/.test(part) ? '[]' : '')).join('.')}`;

export function whereField(context, {label = 'Condition', value = '', ask, button = 'Ask'}) {
  const note = h('div', {id: newID('where'), role: 'status'}), [labelOf, input] = labelled(label, {class: 'mono wide', value, 'aria-describedby': note.id, placeholder: 'custom.level >= 3'});
  const box = h('div', {class: 'search'}, input);
  const choices = combo(input, box, 'Names of this store', {first: -1, follow: take});
  let asking = null;
  /** What is written of a name before the cursor: its beginning, and the group that it names. */
  const word = () => /(?:^|[\s(,])((custom|events|purchases|traits)\.)?("[^"]*|[\w\-$:@]*)$/.exec(input.value.slice(0, input.selectionStart));
  async function complete() {
    asking?.abort();
    const [, group, kind, name] = word() ?? [];
    if (!group && !name) return choices.close();
    const mine = asking = new AbortController();
    const kinds = {custom: 'attribute', events: 'event', purchases: 'product'}[kind] ?? 'attribute,user_attribute,event,product';
    try {
      const {names} = await get('/v1/names', {prefix: name.replace(/^"/, ''), kind: kinds, limit: 8}, {signal: mine.signal, quiet: true});
      const all = names.map((n) => ({key: n.kind + n.name, text: forms[n.kind]?.(quote(n.name)) ?? n.name, kind: n.kind}));
      if (!mine.signal.aborted && document.activeElement === input) choices.show(all.map((x) => ({...x, nodes: [dim(x.kind.replace('_', ' ')), uncut(x.text)]})));
    } catch (error) { if (!isAbort(error)) choices.close(); }
  }
  function take(choice) {
    const [, group = '', , name] = word() ?? [, '', , ''];
    const to = input.selectionStart, from = to - group.length - name.length;
    input.setRangeText(`${choice.text} `, from, to, 'end');
    choices.close();
  }
  input.addEventListener('input', () => { w.fail(null); complete(); });
  input.addEventListener('keydown', (event) => {
    if ((event.key === 'Enter' || event.key === 'Tab') && choices.chosen) { event.preventDefault(); take(choices.chosen); }
  });
  const w = {
    get value() { return input.value.trim(); },
    set value(text) { if (document.activeElement !== input || !text) input.value = text; },
    element: h('form', {class: 'stack', on: {submit() { asking?.abort(); choices.close(); ask(w.value); }}},
      inRow(labelOf, h('div', {class: 'grow'}, box), h('button', button)), note),
    fail(failure) {
      const isOurs = failure?.place === 'where';
      input.ariaInvalid = isOurs ? 'true' : null;
      if (!isOurs) { fill(note); return false; }
      const column = failure.body?.column ?? Number(/column (\d+)/.exec(failure.error)?.[1] ?? 1);
      // Columns count characters as people do; a family of emoji is one.
      const letters = [...new Intl.Segmenter().segment(w.value)].map((s) => s.segment);
      const rest = letters.slice(column - 1).join(''), wrong = /^(\s*("[^"]*"?|[\w.\-$:@]+|\S?))/.exec(rest)[0] || ' … ';
      fill(note, para('wrap', h('code', printable(letters.slice(0, column - 1).join('')), h('u', {class: 'wrong'}, printable(wrong)), printable(rest.slice(wrong.length)))),
        para('bad', printable(failure.error)), failure.remedy ? h('p', printable(failure.remedy)) : null);
      return true;
    },
  };
  return w;
}
