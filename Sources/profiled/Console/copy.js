// copyButton(text or () => text, 'Copy'); copyLine('profilecli …'): code with a button; quote(text) as a word of a shell
import {button, h, say} from './dom.js';

export const quote = (text) => /^[\w@%+=:,./-]+$/.test(text) ? text : !/[\u0000-\u001f\u007f]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'`
  : `$'${text.replace(/[\u0000-\u001f\u007f\\']/g, (c) => c === '\\' || c === "'" ? `\\${c}` : `\\x${c.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
async function copyText(text) {
  try { await navigator.clipboard.writeText(text); return true; } catch {
    // Without HTTPS there is no clipboard, but a selection can be copied.
    const field = h('textarea', {class: 'hide', 'aria-label': 'To copy'}, text), before = document.activeElement;
    document.body.append(field);
    field.select();
    const isDone = document.execCommand('copy');
    field.remove();
    before?.focus();
    return isDone;
  }
}
export function copyButton(text, label = 'Copy', name = null) {
  const copy = button(label, async () => {
    const isDone = await copyText(await (typeof text === 'function' ? text() : text));
    copy.textContent = isDone ? 'Copied' : 'Not copied';
    say(isDone ? 'Copied' : 'The browser did not allow it. Select the text and copy it.');
    setTimeout(() => { copy.textContent = label; }, 1500);
  }, {'aria-label': name});
  return copy;
}
export const copyLine = (text) => h('span', {class: 'row'}, h('code', {class: 'wrap'}, text), copyButton(text, 'Copy', `Copy: ${text}`));
