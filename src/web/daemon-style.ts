/** The part of the style sheet that only the page of a daemon uses. */
export const DAEMON_STYLE = `
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
.actions { margin: .7rem 0 0; display: flex; flex-wrap: wrap; gap: .5rem; }
.flights li { padding: .3rem 0; } .flights progress, .pad > p progress { display: block; width: 100%; }
progress { accent-color: var(--accent); height: .6rem; }
.card > form.filter { margin: 0; padding: .8rem 1.1rem; border-bottom: 1px solid var(--line); }
.trouble { padding: .7rem 1.1rem; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.trouble:first-child { border-top: 0; }
.trouble p { margin: .3rem 0 0; } .trouble > p:first-child { margin: 0; }
.trouble .paths { margin: .3rem 0 .3rem 1.1rem; } .trouble .paths li { padding: .1rem 0; }
.trouble .paths button, .actions button { min-height: 1.8rem; padding: .1rem .6rem; font-size: .85rem; }
.plots { display: grid; gap: 1rem 1.5rem; grid-template-columns: repeat(auto-fit, minmax(min(16rem, 100%), 1fr)); }
.plot { margin: 0; } .plot figcaption { font-size: .9rem; }
.plot svg { display: block; width: 100%; height: 3.2rem; margin-top: .3rem; border-bottom: 1px solid var(--edge); }
.plot .bar { fill: var(--accent); } .plot .bar-bad { fill: var(--bad); }
.plot .limit { fill: none; stroke: var(--wait); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.axis { display: flex; justify-content: space-between; gap: .5rem; margin: .15rem 0 0; font-size: .78rem; }
ol.events { max-height: 26rem; overflow: auto; padding: .5rem 0; font-size: .9rem; }
ol.events li { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .8rem; padding: .15rem 1.1rem; }
ol.events time { color: var(--soft); } ol.events span { overflow-wrap: anywhere; white-space: pre-wrap; }
ol.events .error span { color: var(--bad); } ol.events .warning strong { color: var(--wait); }
#explained pre { padding: .8rem 1.1rem; margin: 0; }
@media (max-width: 40rem) {
  .verdict { padding: .9rem 1rem; gap: .8rem; } .verdict h2 { font-size: 1.25rem; }
  form.search { margin-left: 0; } ol.events li { grid-template-columns: minmax(0, 1fr); gap: 0; padding-bottom: .4rem; }
}
`;
