// Times by the clock that the top bar chooses (local, UTC, or as the sender wrote them), and spans in words.
//   time('2026-11-23T01:50:00.000Z')           <time>; follows the switch by itself
//   time(text, {form: 'clock'|'seconds'|'full'|'day'})
//   timeText(text, form)  the same as text     span(90) "2 minutes"     late(occurred, recorded) "325 days late"
import {h} from './dom.js';

let clock = 'local';
const forms = {
  day: {day: 'numeric', month: 'short', year: 'numeric'},
  clock: {day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit'},
  minute: {day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit'},
  seconds: {hour: '2-digit', minute: '2-digit', second: '2-digit'},
  full: {day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3},
};
const made = new Map();
function formatter(form, zone) {
  const key = form + zone;
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat('en-GB', {...forms[form], timeZone: zone || undefined, hourCycle: 'h23'}));
  return made.get(key);
}
export const currentClock = () => clock;
/** The offset of a time as its sender wrote it, as in "+01:00"; "Z" without one. */
const offset = (text) => /([+-]\d\d:\d\d)$/.exec(text)?.[1] ?? 'Z';

export function timeText(text, form = 'minute') {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) return String(text ?? '–');
  if (clock === 'local') return formatter(form, '').format(date);
  if (clock === 'utc' || offset(String(text)) === 'Z') return formatter(form, 'UTC').format(date) + (form === 'day' ? '' : 'Z');
  const [hours, minutes] = offset(text).slice(1).split(':').map(Number);
  const shift = (offset(text)[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
  return formatter(form, 'UTC').format(new Date(date.getTime() + shift)) + (form === 'day' ? '' : ' ' + offset(text));
}
export function time(text, {form = 'minute', class: name} = {}) {
  if (!text) return h('span', {class: name}, '–');
  return h('time', {class: name, datetime: text, 'data-form': form, title: new Date(text).toISOString?.() ?? text}, timeText(text, form));
}
/** Sets the clock of all times, those that are shown included. */
export function setClock(next) {
  clock = next;
  for (const element of document.querySelectorAll('time[data-form]')) element.textContent = timeText(element.dateTime, element.dataset.form);
}
const units = [['day', 86400], ['hour', 3600], ['minute', 60], ['second', 1]];
/** One unit, as people say it: "325 days", "3 hours", "40 ms". */
export function span(seconds) {
  const size = Math.abs(seconds);
  if (size < 1) return size === 0 ? '0 seconds' : `${Math.max(1, Math.round(size * 1000))} ms`;
  let [name, unit] = units.find(([, u]) => size >= u);
  let n = Math.round(size / unit);
  const at = units.findIndex(([, u]) => u === unit);
  if (at > 0 && n * unit >= units[at - 1][1]) { [name, unit] = units[at - 1]; n = Math.round(size / unit); }
  return `${n.toLocaleString('en')} ${name}${n === 1 ? '' : 's'}`;
}
/** Seconds between two times. */
export const between = (a, b) => (new Date(b) - new Date(a)) / 1000;
/** How late an event came: "325 days late"; "at once" within a second; "2 hours early" by a clock that was ahead. */
export function late(occurred, recorded) {
  const seconds = between(occurred, recorded);
  return Math.abs(seconds) < 1 ? 'at once' : `${span(seconds)} ${seconds > 0 ? 'late' : 'early'}`;
}
