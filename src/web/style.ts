import { createHash } from 'node:crypto';
import { DAEMON_STYLE } from './daemon-style.ts';
import { Html } from './html.ts';
import { LIVE_SCRIPT_SOURCE } from './live-script.ts';

const COMMON_STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2430, #e4e8ef); --soft: light-dark(#5d6878, #98a3b3); --line: light-dark(#dfe4ea, #2c3440);
  --ground: light-dark(#f5f7f9, #11151b); --card: light-dark(#fff, #181d25); --accent: light-dark(#0b5cad, #7db8ff);
  --good: light-dark(#17693a, #6fd39a); --wait: light-dark(#8a5a00, #f0bf5a); --bad: light-dark(#b3261e, #ff9a90);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: 1rem 1.5rem; }
header { padding-top: 2rem; }
h1 { margin: 0 0 .75rem; font-size: 1.35rem; }
h2 { margin: 2.25rem 0 .6rem; font-size: 1.05rem; display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
h2:first-child { margin-top: .5rem; }
h2 small, .soft { color: var(--soft); font-weight: normal; font-size: .87rem; }
a { color: var(--accent); text-decoration: none; }
a:hover, a:focus-visible { text-decoration: underline; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
code, .key { font-family: ui-monospace, monospace; font-size: .87em; }
nav.bots { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1.25rem; }
nav.bots a { padding: .4rem .8rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); color: inherit; overflow-wrap: anywhere; }
nav.bots a[aria-current] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
nav.bots small { color: var(--soft); margin-left: .4rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .5rem .9rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .8rem; white-space: nowrap; }
.key { overflow-wrap: anywhere; min-width: 14rem; white-space: pre-wrap; }
.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.when { white-space: nowrap; }
.status { white-space: nowrap; }
.tags { min-width: 13rem; }
.status::before { content: "● "; font-size: .7em; vertical-align: .15em; }
.good::before { color: var(--good); } .wait::before { color: var(--wait); } .bad::before { color: var(--bad); }
.reason { display: block; min-width: 12rem; color: var(--bad); font-size: .82rem; }
.tag { display: inline-block; margin: 0 .3rem .2rem 0; padding: 0 .45rem; border: 1px solid var(--line); border-radius: .35rem; font-size: .82rem; overflow-wrap: anywhere; }
.empty { padding: 1rem; color: var(--soft); margin: 0; }
nav.pages { display: flex; gap: 1rem; padding: .7rem .1rem; font-size: .9rem; }
ol.messages { list-style: none; margin: 0; padding: 0; }
ol.messages li { padding: .6rem .9rem; border-top: 1px solid var(--line); }
ol.messages li:first-child { border-top: 0; }
.live { margin: 0; color: var(--soft); font-size: .87rem; min-height: 1.5em; }
.live:not(:empty)::before { content: "● "; color: var(--good); font-size: .7em; vertical-align: .15em; }
[data-live-state="lost"] .live { color: var(--bad); }
[data-live-state="lost"] .live::before { content: "○ "; color: inherit; }
pre { margin: .2rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .87em/1.45 ui-monospace, monospace; }
`;

const PAGE_STYLE = COMMON_STYLE + DAEMON_STYLE;

/** The stylesheet of the pages; as it stands, since the policy names it by its hash. */
export const STYLE_ELEMENT = new Html(`<style>${PAGE_STYLE}</style>`);

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');

/**
 * Nothing but this stylesheet may be applied, nothing run but the script of live-script.ts, nothing loaded but from
 * where the page came from, and nothing sent elsewhere. Neither `style` attributes nor event handlers work.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  `script-src ${LIVE_SCRIPT_SOURCE}`,
  "connect-src 'self'",
  'img-src data:',
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');
