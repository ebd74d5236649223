// Times by the clock that the top bar chooses (local, UTC, or as the sender wrote them), and spans in words.
//   time(text, {form: 'clock'})   <time>; it follows the switch by itself. Forms: day, clock, minute, seconds, full
import {h, number} from './dom.js';

let clock = 'local';
const day = {day: 'numeric', month: 'short', year: 'numeric'}, hours = {hour: '2-digit', minute: '2-digit'};
const forms = {day, clock: {day: 'numeric', month: 'short', ...hours}, minute: {...day, ...hours}, seconds: {...hours, second: '2-digit'},
  full: {...day, ...hours, second: '2-digit', fractionalSecondDigits: 3}};
const made = new Map();
function format(date, form, timeZone) {
  const key = `${form} ${timeZone}`;
  if (!made.has(key)) made.set(key, new Intl.DateTimeFormat('en-GB', {...forms[form], timeZone, hourCycle: 'h23'}));
  return made.get(key).format(date);
}
export function timeText(text, form = 'minute') {
  const date = new Date(text), [, offset, sign, h, m] = /(([+-])(\d\d):(\d\d))$/.exec(text) ?? [];
  if (Number.isNaN(date.getTime())) return String(text ?? '–');
  if (clock === 'local') return format(date, form);
  const isUTC = clock === 'utc' || !offset, shift = isUTC ? 0 : (sign === '-' ? -1 : 1) * (h * 60 + Number(m)) * 60_000;
  return format(new Date(date.getTime() + shift), form, 'UTC') + (form === 'day' ? '' : isUTC ? 'Z' : ` ${offset}`);
}
export const time = (text, {form = 'minute', class: name = null} = {}) => text
  ? h('time', {class: name, datetime: text, 'data-form': form, title: text}, timeText(text, form)) : h('span', {class: name}, '–');
export function setClock(next) {
  clock = next;
  for (const element of document.querySelectorAll('time[data-form]')) element.textContent = timeText(element.dateTime, element.dataset.form);
}
const units = [['second', 1], ['minute', 60], ['hour', 3600], ['day', 86400]];
/** One unit, as people say it: "325 days", "3 hours", "40 ms". */
export function span(seconds) {
  const size = Math.abs(seconds);
  if (size < 1) return size === 0 ? '0 seconds' : `${Math.max(1, Math.round(size * 1000))} ms`;
  // 59.7 seconds are a minute.
  const [name, unit] = units.findLast(([, u], i) => i === 0 || Math.round(size / units[i - 1][1]) * units[i - 1][1] >= u), n = Math.round(size / unit);
  return `${number(n)} ${name}${n === 1 ? '' : 's'}`;
}
export const between = (a, b) => (new Date(b) - new Date(a)) / 1000;
/** How late an event came: "325 days late"; "at once" within a second; "2 hours early" by a clock ahead. */
export function late(occurred, recorded) {
  const seconds = between(occurred, recorded);
  return Math.abs(seconds) < 1 ? 'at once' : `${span(seconds)} ${seconds > 0 ? 'late' : 'early'}`;
}
