// Is in every page that a test opens, before the page's own scripts: it watches, and measures when it is asked.
(() => {
  const watch = {violations: [], errors: [], open: 0, changed: performance.now()};
  addEventListener('securitypolicyviolation', (e) => watch.violations.push(`${e.effectiveDirective}: ${e.blockedURI} ${e.sample}`));
  addEventListener('error', (e) => watch.errors.push(String(e.message)));
  addEventListener('unhandledrejection', (e) => watch.errors.push(`unhandled: ${e.reason}`));
  const counted = (f) => async function (...args) {
    watch.open += 1;
    try { return await f.apply(this, args); } finally { watch.open -= 1; watch.changed = performance.now(); }
  };
  window.fetch = counted(window.fetch);
  Response.prototype.arrayBuffer = counted(Response.prototype.arrayBuffer);
  // What the page will do within half a second belongs to what it does now; a countdown or a poll does not.
  const soon = new Set(), {setTimeout: wait, clearTimeout: forget} = window;
  window.setTimeout = (f, ms = 0, ...args) => {
    const id = wait(() => { soon.delete(id); f(...args); }, ms);
    if (ms <= 500) soon.add(id);
    return id;
  };
  window.clearTimeout = (id) => { soon.delete(id); forget(id); };
  // A countdown changes once a second, and a page that waits for it is at rest.
  const observe = () => new MutationObserver(() => { watch.changed = performance.now(); })
    .observe(document, {subtree: true, childList: true, attributes: true});
  if (document.documentElement) observe(); else document.addEventListener('readystatechange', observe, {once: true});

  const name = (e) => {
    const path = [];
    for (let x = e; x && x.nodeType === 1 && path.length < 4; x = x.parentElement) {
      path.unshift(x.tagName.toLowerCase() + (x.id && !/\d/.test(x.id) ? `#${x.id}` : '') + [...x.classList].map((c) => `.${c}`).join(''));
      if (x.id && !/\d/.test(x.id)) break;
    }
    return `${path.join(' > ')} “${(e.textContent || e.value || e.getAttribute?.('aria-label') || '').trim().replace(/\s+/g, ' ').slice(0, 50)}”`;
  };
  const isSeen = (e) => e.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true}) && !e.closest('.hide');
  const controls = 'button, select, input, textarea, a[href], summary, label, [role=option], [role=tab], [role=button], [role=menuitem], [role=slider]';
  const focusable = 'a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, [tabindex]:not([tabindex="-1"])';
  const canvas = document.createElement('canvas').getContext('2d');
  const width = (text, e) => { canvas.font = getComputedStyle(e).font; return canvas.measureText(text).width; };

  /** Whether all parts are there: the lower half of the overview comes by an import, which leaves no trace before it ends. */
  const isWhole = () => document.querySelector('#root > *') && (document.querySelector('#root h1')?.textContent !== 'Overview' || document.querySelectorAll('#root .panel').length >= 5);

  const test = {
    watch, name,
    /** Calls `done` when no request is open, no timer runs out soon, nothing moves, and nothing has changed for `quiet` ms; with false after `limit` ms. */
    settle(done, quiet = 100, limit = 15_000, held = false) {
      const began = performance.now();
      const look = () => {
        const now = performance.now();
        const isBusy = !held && (watch.open > 0 || soon.size > 0 || document.querySelector('[aria-busy=true]') || document.getAnimations().some((a) => a.playState === 'running'));
        if (!isBusy && document.readyState === 'complete' && (held ? document.querySelector('#root > *') : isWhole()) && now - watch.changed > quiet) return done(true);
        if (now - began > limit) return done(false);
        wait(look, 20);
      };
      look();
    },
    /** What scrolls sideways, what is cut, and which labels lie upon each other: a list of sentences. */
    geometry() {
      const bad = [], root = document.documentElement;
      if (root.scrollWidth > root.clientWidth) {
        const wide = [...document.body.querySelectorAll('*')].filter((e) => isSeen(e) && e.getBoundingClientRect().right > root.clientWidth + 1 && ![...e.children].some((c) => c.getBoundingClientRect().right > root.clientWidth + 1));
        bad.push(`scrolls sideways to ${root.scrollWidth} of ${root.clientWidth}: ${wide.slice(0, 3).map(name).join('; ')}`);
      }
      for (const e of document.querySelectorAll(controls)) {
        if (!isSeen(e)) continue;
        const style = getComputedStyle(e), box = e.getBoundingClientRect();
        if (!box.width || style.display === 'inline') continue;
        if (e.matches('select')) {
          const text = e.selectedOptions[0]?.text ?? '', room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
          if (width(text, e) > room - 12) bad.push(`the choice “${text}” does not fit its field: ${name(e)}`);
        } else if (e.matches('input:not([type=range],[type=checkbox],[type=radio])')) {
          const room = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
          if (!e.value && e.placeholder && style.textOverflow !== 'ellipsis' && width(e.placeholder, e) > room + 1) bad.push(`the placeholder “${e.placeholder}” (${Math.ceil(width(e.placeholder, e))} px) does not fit its field (${Math.floor(room)} px): ${name(e)}`);
        } else if (!e.matches('input, textarea')) {
          // One line that ends in "…" on purpose says so by its style.
          const isCut = style.textOverflow === 'ellipsis' && style.overflowX === 'hidden';
          if (e.scrollHeight > e.clientHeight + 1 && e.clientHeight) bad.push(`text is higher than its control (${e.scrollHeight} > ${e.clientHeight}): ${name(e)}`);
          if (e.scrollWidth > e.clientWidth + 1 && e.clientWidth && !isCut) bad.push(`text is wider than its control (${e.scrollWidth} > ${e.clientWidth}): ${name(e)}`);
          for (const c of e.querySelectorAll('*')) {
            const b = c.getBoundingClientRect();
            if (isSeen(c) && b.width && !isCut && style.overflow === 'visible' && (b.right > box.right + 1 || b.bottom > box.bottom + 1)) { bad.push(`${name(c)} sticks out of ${name(e)}`); break; }
          }
        }
      }
      const sliders = document.querySelectorAll('input[type=range]').length;
      if (sliders && [...document.querySelectorAll('input[type=range], [role=slider]')].some((e) => isSeen(e) && !e.getAttribute('aria-valuetext'))) bad.push('a slider has no aria-valuetext');
      return [...bad, ...test.labels()];
    },
    /** Texts that cover each other. Those in a layer of their own (fixed, sticky, a dialog, a list that drops) are compared among themselves. */
    labels() {
      const found = [], layers = new Map(), styles = new Map();
      const style = (e) => { if (!styles.has(e)) styles.set(e, getComputedStyle(e)); return styles.get(e); };
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = walker.nextNode());) {
        const parent = node.parentElement;
        if (!node.data.trim() || !parent || parent.closest('option, script, noscript, .hide') || !isSeen(parent)) continue;
        let layer = document.body, clip = null;
        for (let e = parent; e && e !== document.body; e = e.parentElement) {
          const s = style(e);
          if (s.overflowX !== 'visible' || s.overflowY !== 'visible') {
            const b = e.getBoundingClientRect();
            clip = clip ? {left: Math.max(clip.left, b.left), right: Math.min(clip.right, b.right), top: Math.max(clip.top, b.top), bottom: Math.min(clip.bottom, b.bottom)} : b;
          }
          if (s.position === 'fixed' || s.position === 'sticky' || e.matches('dialog, [role=listbox], [popover]')) { layer = e; break; }
        }
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const r of range.getClientRects()) {
          // A line box is higher than its letters: 3 px above and below are air.
          const b = {left: Math.max(r.left + 1, clip?.left ?? -1e9), right: Math.min(r.right - 1, clip?.right ?? 1e9), top: Math.max(r.top + 3, clip?.top ?? -1e9), bottom: Math.min(r.bottom - 3, clip?.bottom ?? 1e9), node, parent};
          if (b.right - b.left < 2 || b.bottom - b.top < 2) continue;
          if (!layers.has(layer)) layers.set(layer, []);
          layers.get(layer).push(b);
        }
      }
      for (const boxes of layers.values()) {
        boxes.sort((a, b) => a.top - b.top);
        for (let i = 0; i < boxes.length && found.length < 5; i++) {
          for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j++) {
            const a = boxes[i], b = boxes[j];
            if (a.node !== b.node && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) {
              found.push(`a label covers another: ${name(a.parent)} and ${name(b.parent)}`);
              break;
            }
          }
        }
      }
      return found;
    },
    /** Gives focus to each control in turn: is a ring to be seen, and is the control itself? */
    focus() {
      if (!document.hasFocus()) return ['the window has no focus: nothing can be said about it'];
      const bad = [], before = document.activeElement, at = [scrollX, scrollY];
      const modal = document.querySelector('dialog:modal');
      for (const e of (modal ?? document).querySelectorAll(focusable)) {
        if (e.closest('[inert]') || (!isSeen(e) && !e.matches('.skip'))) continue;
        e.focus();
        if (document.activeElement !== e) { bad.push(`takes no focus: ${name(e)}`); continue; }
        const ring = (x) => { const s = getComputedStyle(x); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2 && !/, 0\)$|^transparent$/.test(s.outlineColor); };
        // A composite draws the ring on the part that its aria-activedescendant names.
        const part = e.hasAttribute('aria-activedescendant') && document.getElementById(e.getAttribute('aria-activedescendant'));
        if (!e.matches(':focus-visible') || (!ring(e) && !(part && ring(part)) && !(e.parentElement && e.parentElement.matches(':focus-within') && ring(e.parentElement)))) bad.push(`its focus cannot be seen: ${name(e)}`);
        // WCAG 2.4.11: not wholly covered by what stays in place.
        e.scrollIntoView({block: 'nearest', behavior: 'instant'});
        const b = e.getBoundingClientRect();
        const points = [[.5, .5], [.1, .2], [.9, .2], [.1, .8], [.9, .8]].map(([x, y]) => [b.left + b.width * x, b.top + b.height * y]).filter(([x, y]) => x >= 0 && y >= 0 && x < innerWidth && y < innerHeight);
        if (points.length && !points.some(([x, y]) => { const hit = document.elementFromPoint(x, y); return hit && (e.contains(hit) || hit.contains(e)); })) bad.push(`it is covered while it has focus, by ${name(document.elementFromPoint(...points[0]))}: ${name(e)}`);
      }
      before?.focus?.();
      scrollTo(...at);
      return bad;
    },
    /** What still moves under prefers-reduced-motion. */
    motion: () => [...document.getAnimations().map((a) => `still moves: ${name(a.effect.target)}`),
      ...[...document.querySelectorAll('*')].filter((e) => { const s = getComputedStyle(e); return s.transitionDuration.split(',').some((d) => parseFloat(d) > 0) || (s.animationName !== 'none' && parseFloat(s.animationDuration) > 0); }).slice(0, 3).map((e) => `would move: ${name(e)}`)],
    elements: () => document.querySelectorAll('*').length,
    /** Clicks what has this text or name: a button, a link, a tab. */
    click(text, within = document) {
      const wanted = [...within.querySelectorAll('button, a[href], summary, [role=tab], [role=row], [role=option], label')].filter((e) => isSeen(e) && (e.textContent.trim() === text || e.getAttribute('aria-label') === text));
      wanted[0]?.click();
      return wanted.length > 0;
    },
    ids: () => { const seen = new Set(), twice = []; for (const {id} of document.querySelectorAll('[id]')) { if (seen.has(id)) twice.push(`the id ${id} is there twice`); seen.add(id); } return twice; },
  };
  Object.defineProperty(window, 'consoleTest', {value: test});
})();
