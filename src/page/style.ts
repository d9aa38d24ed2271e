/** The stylesheet of both pages; the last part is for the page of a daemon. */
export const PAGE_STYLE = `
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

.status { white-space: nowrap; }
.status::before { content: "● "; font-size: .7em; vertical-align: .15em; }
.status.wait::before { content: "◌ "; font-size: .9em; vertical-align: 0; } .status.bad::before { content: "▲ "; }
.good::before { color: var(--good); } .wait::before { color: var(--wait); } .bad::before { color: var(--bad); }
.reason { display: block; color: var(--bad); font-size: .85rem; }
.marks { display: flex; flex-wrap: wrap; gap: .25rem; }
.marks:empty { display: none; }
.mark { display: inline-block; padding: 0 .45rem; border-radius: .35rem; font-size: .8rem; overflow-wrap: anywhere; background: color-mix(in srgb, var(--accent) 12%, transparent); }

form.filter { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin: 0 0 .75rem; }
label { display: grid; gap: .2rem; color: var(--soft); font-size: .82rem; }
form.filter label { max-width: 100%; grid-template-columns: minmax(0, auto); }
label.wide { flex: 1 1 16rem; }
input, select, button, textarea { font: inherit; font-size: .93rem; color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: .4rem; padding: .35rem .6rem; min-height: 2.25rem; max-width: 100%; }
label input { width: 100%; }
button { cursor: pointer; font-weight: 600; }
button:hover, select:hover, input:hover { border-color: var(--accent); }
details > summary { cursor: pointer; }

nav.pages { display: flex; flex-wrap: wrap; gap: .3rem 1rem; padding: .7rem .1rem; font-size: .9rem; }
.live { margin: 0; color: var(--soft); font-size: .87rem; min-height: 1.5em; }
.live:not(:empty)::before { content: "● "; color: var(--good); font-size: .7em; vertical-align: .15em; }
[data-live-state="lost"] .live { color: var(--bad); }
[data-live-state="lost"] .live::before { content: "▲ "; color: inherit; }
pre { margin: .2rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; font: .87em/1.45 ui-monospace, monospace; }

@media (min-width: 52.01rem) { td .reason { min-width: 15rem; } }
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

.skip { position: absolute; left: -100vw; }
.skip:focus { position: static; display: block; padding: .5rem 1.5rem; }
header.top { display: flex; flex-wrap: wrap; gap: .4rem 1.5rem; align-items: center; }
header.top h1 small { color: var(--soft); font-weight: normal; font-size: .7em; }
form.search { margin-left: auto; display: flex; flex-wrap: wrap; gap: .4rem .6rem; align-items: center; }
form.search input { width: min(20rem, 60vw); }
footer { max-width: 84rem; margin: 0 auto; padding: 0 1.5rem 2rem; }

.verdict { display: flex; gap: 1.1rem; margin-top: 1.1rem; padding: 1.1rem 1.3rem; border: 1px solid var(--line); border-left: .5rem solid var(--mood); border-radius: .6rem; background: var(--card); }
.verdict.fine { --mood: var(--good); } .verdict.busy { --mood: var(--accent); }
.verdict.waits { --mood: var(--wait); } .verdict.needs-you { --mood: var(--bad); }
.verdict > div { min-width: 0; flex: 1; }
.verdict h2 { margin: 0; font-size: 1.5rem; line-height: 1.25; color: var(--mood); overflow-wrap: anywhere; }
.verdict p { margin: .35rem 0 0; overflow-wrap: anywhere; }
.sign { flex: none; width: 2.2rem; height: 2.2rem; border-radius: 50%; display: grid; place-content: center; font-weight: 700; font-size: 1.25rem; color: var(--mood); border: 2px solid currentColor; }
.command { display: inline-block; max-width: 100%; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--ground); overflow-wrap: anywhere; user-select: all; }
.path { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; white-space: pre-wrap; }
.notice { margin: 0; font-weight: 600; } .notice:empty { display: none; }
#access { margin-top: .8rem; } #access form { display: flex; flex-wrap: wrap; gap: .5rem .7rem; align-items: center; margin-top: .4rem; }

.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2rem; }
@media (min-width: 70rem) { .columns { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr); } }
.pad { padding: .8rem 1.1rem; } .pad > p { margin: .2rem 0; }
ul.cards, ul.flights, ul.paths, ul.plain, ol.events { list-style: none; margin: 0; padding: 0; }
ul.cards { display: grid; gap: .8rem; grid-template-columns: repeat(auto-fit, minmax(min(22rem, 100%), 1fr)); }
.cards .card { padding: .8rem 1.1rem 1rem; }
.cards .halted { border-color: var(--bad); }
.cards h3 { margin: 0; font-size: 1.05rem; overflow-wrap: anywhere; } .cards h3 small { color: var(--soft); font-weight: normal; }
.where { margin: 0 0 .5rem; color: var(--soft); }
dl.facts { display: block; } dl.facts > div { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .5rem; }
.alarm { margin: .3rem 0 .5rem; color: var(--bad); overflow-wrap: anywhere; }
.cards details { margin-bottom: .5rem; } .cards .paths { max-height: 14rem; overflow: auto; }
button.danger { background: var(--bad); border-color: var(--bad); color: var(--card); font-weight: 600; }
.approval { margin: .6rem 0 0; } .approval summary { cursor: pointer; font-weight: 600; color: var(--bad); } .approval p { margin: .4rem 0; }
.approval .paths { max-height: 14rem; overflow: auto; margin: 0 0 .5rem; }
.actions { margin: .7rem 0 0; display: flex; flex-wrap: wrap; gap: .5rem; }
.flights li { padding: .3rem 0; } .flights progress, .pad > p progress { display: block; width: 100%; }
progress { accent-color: var(--accent); height: .6rem; }
.card > form.filter { margin: 0; padding: .8rem 1.1rem; border-bottom: 1px solid var(--line); }
.trouble { padding: .7rem 1.1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.trouble:first-child { border-top: 0; }
.trouble p { margin: .3rem 0 0; } .trouble > p:first-child { margin: 0; }
.trouble .paths { margin: .3rem 0 .3rem 1.1rem; } .trouble .paths li { padding: .1rem 0; }
.trouble .paths button, .actions button { min-height: 1.8rem; padding: .1rem .6rem; font-size: .85rem; }
main { transition: opacity .3s, filter .3s; }
[data-live-state="lost"] main { opacity: .45; filter: grayscale(1); transition-delay: 2s; }
nav.spans { display: flex; gap: .3rem .9rem; margin: -.3rem 0 .5rem; font-size: .9rem; }
nav.spans [aria-current] { color: inherit; font-weight: 600; text-decoration: none; }
.charts > summary { display: none; }
@media (max-width: 40rem) { .charts > summary { display: list-item; } }
.plot { margin: 0 0 .7rem; } .plot figcaption { font-size: .9rem; }
.plot svg { display: block; width: 100%; height: 1.75rem; margin-top: .2rem; border-bottom: 1px solid var(--edge); }
.quotas li { padding: .15rem 0; } .quotas progress { display: block; width: 100%; }
.plot .bar { fill: var(--accent); } .plot .bar-bad { fill: var(--bad); }
.plot .limit { fill: none; stroke: var(--wait); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.axis { display: flex; justify-content: space-between; gap: .5rem; margin: .15rem 0 0; font-size: .78rem; }
ol.events { max-height: 26rem; overflow: auto; padding: .5rem 0; font-size: .9rem; }
ol.events > li { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .8rem; padding: .15rem 1.1rem; }
ol.events time { color: var(--soft); } ol.events span { overflow-wrap: anywhere; white-space: pre-wrap; }
ol.events .error span { color: var(--bad); } ol.events .warning strong { color: var(--wait); }
dl.file { grid-template-columns: 7rem minmax(0, 1fr); align-items: baseline; } button.copy { min-height: 1.6rem; padding: .05rem .5rem; font-size: .8rem; margin-left: .3rem; }
details.pad { padding-top: 0; } details.charts { padding-top: .7rem; }
#explained pre { padding: .8rem 1.1rem; margin: 0; }
@media (max-width: 40rem) {
  header.top { gap: .2rem .8rem; } form.search { width: 100%; flex-wrap: nowrap; } form.search input { flex: 1; width: auto; min-width: 0; }
  form.search label { position: absolute; width: 1px; height: 1px; overflow: clip; clip-path: inset(50%); }
  .verdict { padding: .9rem 1rem; gap: .8rem; } .verdict h2 { font-size: 1.25rem; }
  form.search { margin-left: 0; } ol.events > li { grid-template-columns: minmax(0, 1fr); gap: 0; padding-bottom: .4rem; }
}
`;
