import { createHash } from 'node:crypto';
import { Html } from './html.ts';

const LIVE_SCRIPT = `
(() => {
  'use strict';
  const { body } = document;
  const status = document.getElementById('live');
  let ahead = Number(body.dataset.now) - Date.now();

  const say = (state, text) => {
    body.dataset.liveState = state;
    if (status.textContent !== text) status.textContent = text;
  };

  // Parts that a person opened stay open after an update.
  const isTheirs = (element, name) => name === 'open' && element.nodeName === 'DETAILS';
  const keyOf = (node) => (node.nodeType === 1 ? node.id || node.dataset.key || '' : '');

  // Makes an element what another is by as few changes as possible, so that focus, selection and scrolling stay.
  const morph = (old, next) => {
    if (old.isEqualNode(next)) return;
    for (const { name } of [...old.attributes])
      if (!next.hasAttribute(name) && !isTheirs(old, name)) old.removeAttribute(name);
    for (const { name, value } of [...next.attributes])
      if (old.getAttribute(name) !== value && !isTheirs(old, name)) old.setAttribute(name, value);
    morphChildren(old, next);
  };
  const patch = (old, next) => {
    if (old.nodeType === 1) morph(old, next);
    else if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
  };
  const morphChildren = (old, next) => {
    const wanted = new Set([...next.childNodes].map(keyOf));
    const keyed = new Map();
    for (const child of [...old.childNodes]) {
      const key = keyOf(child);
      if (key === '') continue;
      if (wanted.has(key)) keyed.set(key, child);
      else child.remove();
    }
    let at = old.firstChild;
    for (const child of [...next.childNodes]) {
      const key = keyOf(child);
      const match = key === '' ? at : keyed.get(key);
      if (key !== '' && match)
        while (at && at !== match && keyOf(at) === '') {
          const gone = at;
          at = at.nextSibling;
          gone.remove();
        }
      if (!match || match.nodeName !== child.nodeName || keyOf(match) !== key) {
        old.insertBefore(child, at);
        continue;
      }
      if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      patch(match, child);
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  };

  const apply = (parts) => {
    const focused = document.activeElement;
    const template = document.createElement('template');
    for (const [id, markup] of Object.entries(parts)) {
      const old = document.getElementById(id);
      if (old === null) continue;
      template.innerHTML = markup;
      const next = template.content.firstElementChild;
      if (next === null || next.id !== id) morphChildren(old, template.content);
      else if (next.nodeName === old.nodeName) morph(old, next);
      else old.replaceWith(next);
    }
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    tick();
  };

  const second = 1000, minute = 60 * second, hour = 60 * minute, day = 24 * hour;
  const span = (ms) => {
    if (Math.round(ms / second) < 60) return Math.round(ms / second) + ' s';
    if (Math.round(ms / minute) < 60) return Math.round(ms / minute) + ' min';
    if (Math.round(ms / hour) < 24) return Math.round(ms / hour) + ' h';
    const days = Math.round(ms / day);
    return days.toLocaleString('en') + (days === 1 ? ' day' : ' days');
  };
  const relative = (form, at, now) => {
    if (form === 'in') return at > now ? 'in ' + span(at - now) : 'now';
    return span(Math.max(0, now - at)) + (form === 'ago' ? ' ago' : '');
  };
  // Times stand still without a connection: the state that they belong to may be over.
  const tick = () => {
    if (body.dataset.liveState === 'lost') return;
    const now = Date.now() + ahead;
    for (const time of document.querySelectorAll('time[data-relative]')) {
      const text = relative(time.dataset.relative, Date.parse(time.dateTime), now);
      if (time.textContent !== text) time.textContent = text;
    }
  };
  setInterval(() => {
    if (!document.hidden) tick();
  }, second);

  const copy = async (text) => {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    // Browsers have a clipboard only for https and localhost.
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand('copy');
    area.remove();
    if (!isDone) throw new Error('not copied');
  };
  for (const button of document.querySelectorAll('[data-copy]')) {
    const label = button.textContent;
    const show = (text) => {
      button.textContent = text;
      button.focus();
      setTimeout(() => { button.textContent = label; }, 2 * second);
    };
    button.hidden = false;
    button.addEventListener('click', () => {
      copy(decodeURIComponent(button.dataset.copy)).then(() => show('Copied'), () => show('Not copied'));
    });
  }

  if (matchMedia('(max-width: 40rem)').matches)
    for (const part of document.querySelectorAll('details[data-fold-narrow]')) part.open = false;

  if (body.dataset.live === undefined) return;
  if (!window.EventSource) {
    setInterval(() => {
      if (!document.hidden && document.activeElement === body) location.reload();
    }, 30 * second);
    return;
  }

  let source = null, waiting = 0, silence = 0, patience = second, heard = Date.now();
  const close = () => {
    clearTimeout(waiting);
    clearTimeout(silence);
    if (source !== null) source.close();
    source = null;
  };
  const hear = () => {
    heard = Date.now();
    say('on', 'Live');
    patience = second;
    // A connection that died while the computer slept looks open for good.
    clearTimeout(silence);
    silence = setTimeout(open, 75 * second);
  };
  const open = () => {
    close();
    source = new EventSource(body.dataset.live + location.search);
    source.onopen = hear;
    source.addEventListener('parts', ({ data }) => {
      hear();
      apply(JSON.parse(data));
    });
    source.addEventListener('clock', ({ data }) => {
      hear();
      ahead = Number(data) - Date.now();
    });
    source.addEventListener('reload', () => {
      close();
      setTimeout(() => location.reload(), second * (1 + Math.random()));
    });
    source.onerror = () => {
      close();
      const at = new Date(heard).toLocaleTimeString('en-GB');
      say('lost', 'botsync has not answered since ' + at + '; retrying. What is shown may be out of date.');
      waiting = setTimeout(open, patience * (1 + Math.random() / 2));
      patience = Math.min(2 * patience, 30 * second);
    };
  };

  // A browser opens six connections to a server at most: tabs that nobody looks at need none.
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close();
    else open();
  });
  addEventListener('pagehide', close);
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) open();
  });

  let typing = 0;
  document.addEventListener('input', ({ target }) => {
    const { form } = target;
    if (!form || !form.hasAttribute('data-live-form')) return;
    clearTimeout(typing);
    typing = setTimeout(() => {
      const chosen = [...new FormData(form)].filter(([, value]) => value !== '');
      history.replaceState(null, '', location.pathname + '?' + new URLSearchParams(chosen));
      open();
    }, 250);
  });

  if (!document.hidden) open();
})();
`;

/**
 * The script that keeps a page up to date. It is last in the body, and the policy allows it by its hash. The page
 * is complete without it. The page must have:
 *
 * - `<body data-live="/events" data-now="…">`: the address of the stream, and the server's clock in epoch
 *   milliseconds, since clocks differ. The query of the page's address is added to that of the stream, so that the
 *   server knows what the page shows. Without `data-live` only relative times are updated.
 * - `LIVE_STATUS`: shows "Live", or since when the server has not answered. `data-live-state` of the body is `on` or
 *   `lost`; the style greys out the page then, and relative times stand still.
 * - `<time datetime="ISO" data-relative="ago|in|for">` (see `relativeTime`): rewritten every second.
 * - `<button data-copy="…" hidden>`: shown, and copies its text, which is percent-encoded.
 * - `<details open data-fold-narrow>`: closed at the start in a narrow window.
 * - `<form method="get" data-live-form>`: a change of its fields goes into the address and reopens the stream; the
 *   form contains everything that the address chooses, so that it works without the script too.
 *
 * The events of the stream are:
 *
 * - `parts`: a JSON object, element id → markup of that whole element (or of its content, if its root has another
 *   id). The first one of a connection has every part, later ones those that changed. Ids that the page lacks are
 *   ignored. `<title id="…">` can be a part. Elements are changed in place: focus, selection, scrolling, typed text
 *   and open details are kept. In lists that grow or shrink each item has an `id` or a `data-key`, unique among its
 *   siblings, so that it stays the same element. A part is an HTML element, not a piece of an SVG.
 * - `clock`: epoch milliseconds. Some event comes at least every 30 s; without one the stream is reopened after 75
 *   s.
 * - `reload`: the page reloads itself, for example after an update of the server.
 *
 * Without EventSource the page reloads every 30 s, unless the visitor is using one of its controls. Hidden tabs
 * have no connection. A lost connection is retried after 1 s to 45 s.
 */
export const LIVE_SCRIPT_ELEMENT = new Html(`<script>${LIVE_SCRIPT}</script>`);

/** The `script-src` of the policy. */
export const LIVE_SCRIPT_SOURCE = `'sha256-${createHash('sha256').update(LIVE_SCRIPT).digest('base64')}'`;

/** Where the script shows its state; empty without the script. */
export const LIVE_STATUS = new Html('<p class="live" id="live" role="status"></p>');
