import { createHash } from 'node:crypto';
import { DAEMON_STYLE } from './daemon-style.ts';
import { Html } from './html.ts';
import { LIVE_SCRIPT_SOURCE } from './live-script.ts';

const COMMON_STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1d2430, #e4e8ef); --soft: light-dark(#566171, #a3adbc); --line: light-dark(#dfe4ea, #2c3440);
  --ground: light-dark(#f5f7f9, #11151b); --card: light-dark(#fff, #181d25); --accent: light-dark(#0b5cad, #7db8ff);
  --good: light-dark(#17693a, #6fd39a); --wait: light-dark(#8a5a00, #f0bf5a); --bad: light-dark(#b3261e, #ff9a90);
  --edge: light-dark(#8b95a3, #667080);
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 84rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 1.75rem; }
main { padding-bottom: 3rem; }
h1 { margin: 0; font-size: 1.35rem; }
h2 { margin: 2.25rem 0 .6rem; font-size: 1.05rem; display: flex; gap: .6rem; align-items: baseline; flex-wrap: wrap; }
h2 small, .soft { color: var(--soft); font-weight: normal; font-size: .87rem; }
a { color: var(--accent); text-underline-offset: .15em; text-decoration-thickness: 1px; text-decoration-color: color-mix(in srgb, currentColor 40%, transparent); }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: .2rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 0; font-size: .9rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
code { font-family: ui-monospace, monospace; font-size: .92em; overflow-wrap: anywhere; }
.title { display: flex; flex-wrap: wrap; gap: .2rem 1.5rem; align-items: baseline; justify-content: space-between; margin-bottom: .75rem; }
nav.bots { display: flex; flex-wrap: wrap; gap: .5rem; margin-top: 1.25rem; }
nav.bots a { padding: .4rem .8rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); color: inherit; overflow-wrap: anywhere; text-decoration: none; }
nav.bots a:hover { border-color: var(--accent); }
nav.bots a[aria-current] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); font-weight: 600; }
nav.bots small { color: var(--soft); margin-left: .5rem; font-weight: normal; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: clip; }
.padded { padding: 1rem 1.2rem; }
.empty { padding: 1rem; color: var(--soft); margin: 0; }
.note { margin: 1rem 0 0; padding: .6rem .9rem; border: 1px solid var(--line); border-left: .3rem solid var(--wait); border-radius: .4rem; background: var(--card); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .5rem .9rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); }
thead th { border-top: 0; color: var(--soft); font-weight: 600; font-size: .8rem; white-space: nowrap; }
td { overflow-wrap: anywhere; }
.name { overflow-wrap: anywhere; white-space: pre-wrap; }
td.name { min-width: 14rem; } td.type { min-width: 7.5rem; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
time { white-space: nowrap; font-variant-numeric: tabular-nums; }
.control { font-family: ui-monospace, monospace; font-size: .85em; color: var(--bad); border: 1px solid; border-radius: .2rem; padding: 0 .15rem; }

.status { white-space: nowrap; }
.status::before { content: "● "; font-size: .7em; vertical-align: .15em; }
.status.wait::before { content: "◌ "; font-size: .9em; vertical-align: 0; } .status.bad::before { content: "▲ "; }
.good::before { color: var(--good); } .wait::before { color: var(--wait); } .bad::before { color: var(--bad); }
.reason { display: block; color: var(--bad); font-size: .85rem; }
.marks { display: flex; flex-wrap: wrap; gap: .25rem; }
.marks:empty { display: none; }
.mark, .tag { display: inline-block; padding: 0 .45rem; border: 1px solid var(--line); border-radius: .35rem; font-size: .8rem; overflow-wrap: anywhere; }
.mark { border-color: transparent; background: color-mix(in srgb, var(--accent) 12%, transparent); }
.tag { margin: 0 .3rem .2rem 0; }

form.filter { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin: 0 0 .75rem; }
label { display: grid; gap: .2rem; color: var(--soft); font-size: .82rem; }
label.wide { flex: 1 1 16rem; }
input, select, button, textarea { font: inherit; font-size: .93rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .35rem .6rem; min-height: 2.25rem; max-width: 100%; }
label input { width: 100%; }
button { cursor: pointer; font-weight: 600; }
button:hover, select:hover, input:hover { border-color: var(--accent); }
details > summary { cursor: pointer; }

nav.pages { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: .7rem .1rem; font-size: .9rem; }
ol.messages { list-style: none; margin: 0; padding: 0; }
ol.messages li { padding: .6rem .9rem; border-top: 1px solid var(--line); }
ol.messages li:first-child { border-top: 0; }
.live { margin: 0; color: var(--soft); font-size: .87rem; min-height: 1.5em; }
.live:not(:empty)::before { content: "● "; color: var(--good); font-size: .7em; vertical-align: .15em; }
[data-live-state="lost"] .live { color: var(--bad); }
[data-live-state="lost"] .live::before { content: "▲ "; color: inherit; }
pre { margin: .2rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .87em/1.45 ui-monospace, monospace; }

@media (max-width: 52rem) {
  header, main { padding-left: 1rem; padding-right: 1rem; }
  header { padding-top: 1.25rem; }
  table.stack, .stack tbody, .stack tr, .stack td { display: block; }
  .stack thead { position: absolute; width: 1px; height: 1px; overflow: clip; clip-path: inset(50%); }
  .stack tr { padding: .6rem .9rem; border-top: 1px solid var(--line); }
  .stack tbody tr:first-child { border-top: 0; }
  .stack td, .stack td.name, .stack td.number, .stack td.type { padding: .1rem 0; border: 0; min-width: 0; text-align: left; white-space: normal; }
  .stack td:not(.name) { display: grid; grid-template-columns: 7.5rem minmax(0, 1fr); gap: .5rem; }
  .stack td:not(.name)::before { content: attr(data-label); color: var(--soft); }
  .stack td.none { display: none; }
  .stack td:first-child.name { font-weight: 600; padding-bottom: .3rem; }
}
@media (max-width: 30rem) {
  dl { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dd { margin-bottom: .4rem; }
}
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
