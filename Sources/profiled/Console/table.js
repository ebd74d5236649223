// Tables. list(…) has some rows, table(…) many of one height: those that can be seen are in the document.
//   table({label: 'Events', columns: [{head: 'Time', cell: (row) => nodes, width: '160px', num: true, wide: true}], key, open, choose, more})
// t.select(key) scrolls there. t.hold(): no more of the old rows come. `wide` columns go under 640 px.
// ↑ ↓ PageUp PageDown Home End move and choose, Enter opens.
import {aborted, get, isAbort} from './api.js';
import {button, fill, h, keepFocus, newID, printable} from './dom.js';

export function table({label, columns, key = (row) => row, open = null, choose = null, more = null, rowClass = () => ''}) {
  const id = newID('grid');
  const widths = (list) => list.map((c) => c.width ?? 'minmax(0, 1fr)').join(' ');
  const cell = (c, role, content) => h('div', {role, class: `c ${c.num ? 'num' : ''} ${c.wide ? 'wide' : ''}`}, content);
  const head = h('div', {role: 'rowgroup'}, h('div', {role: 'row', class: 'head', 'aria-rowindex': '1'}, columns.map((c) => cell(c, 'columnheader', c.head))));
  const lines = h('div', {role: 'rowgroup', class: 'lines'});
  const foot = h('div', {role: 'rowgroup', hidden: true});
  const element = h('div', {role: 'grid', class: 'grid', tabindex: '0', 'aria-label': label, 'aria-rowcount': '1',
    vars: {'--cols': widths(columns), '--cols-narrow': widths(columns.filter((c) => !c.wide))}}, head, lines, foot);
  let rows = [], cursor = -1, drawn = new Map(), asking = null, ended = false, frame = 0;
  const height = () => parseFloat(getComputedStyle(element).getPropertyValue('--row')) || 28;

  function draw() {
    frame = 0;
    const size = height();
    const view = element.clientHeight || 600;
    const from = Math.max(0, Math.floor(element.scrollTop / size) - 6), to = Math.min(rows.length, Math.ceil((element.scrollTop + view) / size) + 6);
    lines.style.setProperty('height', `${rows.length * size}px`);
    const next = new Map(), seen = Array.from({length: to - from}, (_, i) => from + i);
    // A row with the focus stays while others scroll away.
    const held = lines.contains(document.activeElement) ? rows.indexOf([...drawn].find(([, line]) => line.contains(document.activeElement))?.[0]) : -1;
    if (held >= to) seen.push(held); else if (held >= 0 && held < from) seen.unshift(held);
    for (const i of seen) {
      const row = rows[i];
      let line = drawn.get(row);
      if (!line) {
        line = h('div', {role: 'row', id: newID(id), class: `r ${rowClass(row)}`, on: {click: (event) => { if (!event.target.closest('a,button')) { move(line.index); open?.(row); } }}},
          columns.map((c) => cell(c, 'gridcell', c.cell(row))));
      }
      line.index = i;
      line.ariaRowIndex = i + 2;
      line.style.setProperty('top', `${i * size}px`);
      line.ariaSelected = i === cursor;
      line.classList.toggle('cursor', i === cursor);
      next.set(row, line);
    }
    for (const [row, line] of drawn) if (next.get(row) !== line) line.remove();
    let place = null;
    for (const line of next.values()) {
      if (line.parentNode !== lines || line.previousSibling !== place) lines.insertBefore(line, place ? place.nextSibling : lines.firstChild);
      place = line;
    }
    drawn = next;
    const active = cursor >= from && cursor < to ? drawn.get(rows[cursor])?.id : null;
    if (active) element.setAttribute('aria-activedescendant', active); else element.removeAttribute('aria-activedescendant');
    if (more && !asking && !ended && rows.length && to > rows.length - 20) next20();
  }
  const later = () => { frame ||= requestAnimationFrame(draw); };
  async function next20() {
    const mine = asking = new AbortController();
    try {
      const {signal} = mine, got = await more((path, query) => { if (!element.isConnected) throw aborted(); return get(path, query, {signal}); });
      if (mine !== asking) return;
      if (got?.length) api.append(got); else ended = true;
    } catch (error) {
      if (mine !== asking || isAbort(error)) return;
      ended = true;
      fill(foot, h('div', {role: 'row'}, h('div', {role: 'gridcell', class: 'row'}, h('span', {class: 'bad'}, 'The next rows did not come: ', printable(error.error ?? error)), button('Try again', () => { resume(); next20(); }))));
      foot.hidden = false;
    } finally { if (mine === asking) asking = null; }
  }
  function resume() { ended = false; foot.hidden = true; fill(foot); }
  function hold() { asking?.abort(); asking = null; ended = true; }
  function move(to) {
    if (!rows.length) return;
    cursor = Math.max(0, Math.min(to, rows.length - 1));
    const size = height(), top = cursor * size, headHeight = head.offsetHeight;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + size + headHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + size + headHeight - element.clientHeight;
    draw();
    choose?.(rows[cursor]);
  }
  element.addEventListener('scroll', later, {passive: true});
  element.addEventListener('keydown', (event) => {
    if (event.target !== element || event.altKey || event.ctrlKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(element.clientHeight / height()) - 2);
    const to = {ArrowDown: cursor + 1, ArrowUp: cursor - 1, PageDown: cursor + page, PageUp: cursor - page, Home: 0, End: rows.length - 1}[event.key];
    if (to !== undefined && !event.shiftKey) { event.preventDefault(); move(to); } else if (event.key === 'Enter' && rows[cursor] && open) { event.preventDefault(); open(rows[cursor]); }
  });
  new ResizeObserver(later).observe(element);
  const changed = () => { element.ariaRowCount = rows.length + 1; draw(); };
  const api = {
    element, hold,
    get count() { return rows.length; },
    get rows() { return rows; },
    get chosen() { return rows[cursor]; },
    set(next) { hold(); resume(); rows = [...next]; cursor = -1; element.scrollTop = 0; for (const line of drawn.values()) line.remove(); drawn.clear(); changed(); },
    append(next) { rows.push(...next); changed(); },
    prepend(next) {
      if (cursor >= 0) cursor += next.length;
      rows.unshift(...next);
      if (element.scrollTop > 0) element.scrollTop += next.length * height();
      changed();
    },
    trim(count) { if (rows.length > count) { rows.length = count; hold(); resume(); changed(); } },
    select(wanted) { if (wanted === null) { cursor = -1; draw(); return true; } const i = rows.findIndex((row) => key(row) === wanted); if (i >= 0 && i !== cursor) { const f = choose; choose = null; move(i); choose = f; } return i >= 0; },
    redraw() { keepFocus(lines, () => { lines.replaceChildren(); drawn.clear(); draw(); }); },
  };
  return api;
}
/** A table of some rows: list('Changed fields', ['Field', 'Before'], [[nodes, nodes], …]). */
export const list = (label, heads, rows) => h('div', {class: 'scroll', tabindex: '0', role: 'group', 'aria-label': label}, h('table', {class: 'list'},
  h('thead', h('tr', heads.map((x) => h('th', {scope: 'col'}, x)))), h('tbody', rows.map((r) => h('tr', r.map((c) => h('td', c)))))));
