// Act on a device. A save or a log has a key, and is repeated if no answer came; all else is sent once. A form says its answer or its
// error in its place, and a launch is replayed.
import {fill, foreign, h, inRow, labelled, para} from './dom.js';
import {failureView} from './panel.js';
import {post} from './wire.js';

// A number keeps its form: 1.0 is no integer.
const raw = (_, v, {source} = {}) => typeof v === 'number' && JSON.rawJSON && String(v) !== source ? JSON.rawJSON(source) : v;
const json = (text) => { try { return JSON.parse(text, raw); } catch { return text; } };
const contents = [['event', 'an event'], ['attributes', 'an attribute'], ['user-attribute', 'a user attribute']];
const starts = [['cold', 'cold'], ['background', 'in the background'], ['return', 'a return'], ['locked', 'before the first unlock']];
const ways = [['long_press', 'long press'], ['swipe_down', 'swipe down'], ['view', 'View']];
const outcomes = {flushed: 'flushed', refused: 'refused', finished: 'flushed for an earlier launch that died', sent: 'sent', queued: 'in the SDK’s queue', left: 'left', waiting: 'waiting', discarded: 'discarded'};
const size = (x) => Array.isArray(x) ? x.length : typeof x === 'number' ? x : 0;

export function forms({id, path, settings, eventLink, done, replay}) {
  /** `fields`: [name, label, first value or choices]; `buttons`: [label, values → [path, body], whether it takes something away]. */
  function form(title, says, fields, buttons) {
    const inputs = fields.map(([name, label, kind = '']) => {
      const isChoice = Array.isArray(kind), choices = isChoice ? kind.map(([v, t]) => h('option', {value: v}, t)) : [];
      return h('div', labelled(label, {name, ...!isChoice && {value: kind, required: name === 'name'}}, isChoice ? 'select' : 'input', choices));
    });
    const result = h('div', {class: 'stack', role: 'status'});
    const all = buttons.map(([label, make, isBad], i) => h('button', {type: i ? 'button' : 'submit', class: isBad ? 'bad' : null, on: i ? {click: (event) => send(make, event.target)} : {}}, label));
    async function send(make, pressed) {
      const values = Object.fromEntries([...new FormData(element)].map(([name, v]) => [name, v.trim()]));
      for (const b of all) b.disabled = true;
      fill(result);
      let answer = null;
      try { answer = await post(...make(values)); } catch (error) {
        if (error.code === 'no_connection') error.remedy = 'Whether it was done is not known. Look at the phone before you do it again.';
        fill(result, failureView(error, null));
      }
      for (const b of all) b.disabled = false;
      if (document.activeElement === document.body) pressed.focus();
      if (!answer) return;
      fill(result, answered(answer));
      const launch = answer.flushed ? answer.position : answer.events?.findLast?.((e) => e.kind === 'appLaunched')?.position;
      if (launch) replay(launch, pressed); else done();
    }
    const element = h('form', {class: 'panel stack', 'aria-label': title, on: {submit: () => send(buttons[0][1], all[0])}}, h('h3', title), says ? para('dim', says) : null, inputs, inRow(all), result);
    return element;
  }
  function answered(a) {
    const of = (isRefused) => a.flushed?.filter((i) => (i.outcome === 'rejected') === isRefused);
    const all = {...a, flushed: of(false), refused: of(true)}, parts = Object.keys(outcomes).filter((k) => size(all[k])).map((k) => `${size(all[k])} ${outcomes[k]}`);
    return [h('p', a.position ? ['Done at ', eventLink(a.position), '. '] : 'It changed nothing. ', parts.length ? `${parts.join(', ')}. ` : '', a.queued === true ? 'The SDK holds it, and cannot send it now.' : ''),
      a.reason ? para(a.lost ? 'warn' : 'dim', a.lost ? 'Lost: ' : '', foreign(a.reason)) : null, a.note ? para('warn', foreign(a.note)) : null];
  }

  const content = (what) => ({kind, name, value, process}) => {
    const v = value === '' ? undefined : json(value);
    const body = {event: {name, properties: v}, attributes: {attributes: {[name]: v ?? null}}, 'user-attribute': {attribute: name, value: v ?? null}, purchase: {...v, product: name}}[kind];
    return [`/v1/${what}/${kind}`, {device: id, process: process || undefined, ...body}, {once: true}];
  };
  const to = (end, body = () => ({})) => (values) => [`${path}/${end}`, body(values)];
  const push = (action, more) => to('push', (values) => ({action, ...more?.(values)}));
  const launch = (die_after) => to('launch', ({kind}) => ({kind, die_after}));
  const flip = (name) => to('settings', () => ({[name]: settings()[name] === false}));
  const network = form('Network and SDK', null, [], [['Go offline', flip('online')], ['SDK off', flip('sdk_enabled')], ['Send now', to('send')]]);
  const element = h('div', {class: 'panels'},
    form('Save', 'Stored on the device; the next launch takes it.', [['kind', 'What', contents], ['name', 'Name'], ['value', 'Value, or properties as JSON'], ['process', 'Process', 'app']], [['Save', content('save')]]),
    form('Log', 'Effective at once, if the SDK can send it.', [['kind', 'What', [...contents, ['purchase', 'a purchase']]], ['name', 'Name, or product'], ['value', 'Value, or {"price": 1, "currency": "EUR"}']], [['Log', content('log')]]),
    form('Launch', 'The app starts and hands over what waits. Each press is another launch.', [['kind', 'Start', starts]], [['Launch', launch()], ['Die before the hand-over', launch('launched'), true], ['Die before sending', launch('handed'), true]]),
    network,
    form('Push', null, [['way', 'Expand by', ways], ['button', 'Button']], [['Deliver', push('deliver')], ['Expand', push('expand', ({way}) => ({way}))], ['Press the button', push('act', ({button}) => ({button}))], ['Open', push('open')], ['Dismiss', push('dismiss')]]),
    form('App and person', null, [['user', 'Person']], [['Log in', to('change-user', ({user}) => ({user}))], ['Log out', to('log-out'), true], ['Leave the app', to('leave')], ['Force quit', push('force_quit'), true]]));
  const [net, sdk] = network.querySelectorAll('button');
  return {element, show() {
    net.textContent = settings().online === false ? 'Go online' : 'Go offline';
    sdk.textContent = settings().sdk_enabled === false ? 'SDK on' : 'SDK off';
  }};
}
