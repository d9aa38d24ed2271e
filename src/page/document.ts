import type { PageAccess } from '../service/page-source.ts';
import { escapeControls } from '../domain/escape.ts';
import { countText } from '../service/amounts.ts';
import type { Advice } from '../words/advice.ts';
import { html, Html } from './html.ts';
import { LIVE_STATUS } from './live-script.ts';
import { ago, moment, relativeTime, actionButton, command, name, path } from './markup.ts';
import { pageQueryText, type PageEvent, type PageFacts, type PageQuery } from './facts.ts';
import { renderApproval, renderSources } from './sources.ts';
import { renderFile, type FileAnswer } from './file.ts';
import { frame } from './frame.ts';
import { renderHistory } from './history.ts';
import { renderEvents, renderRenewals, renderUsage, renderHosts } from './lists.ts';
import { renderNotInSync } from './not-in-sync.ts';
import { renderUnderWay } from './under-way.ts';
import { sign, verdictOf, type Verdict } from './verdict.ts';
import { botsText } from './whose.ts';

/** Returns the changing parts of the page, by the id of their element. */
export function renderParts(facts: PageFacts, query: PageQuery, mayAct: boolean): Map<string, string> {
  const verdict = verdictOf(facts);
  const hosts = renderHosts(facts);
  const parts: readonly (readonly [string, Html])[] = [
    ['whose', renderWhose(facts)],
    ['page-title', html`<title id="page-title">${titleOf(verdict, facts)}</title>`],
    ['verdict', renderVerdict(verdict, facts, mayAct)],
    ['sources', renderSources(facts, mayAct)],
    ['under-way', renderUnderWay(facts)],
    ['not-in-sync', renderNotInSync(facts, query, mayAct)],
    ...(hosts === null ? [] : [['hosts', hosts] as const]),
    ['history', renderHistory(facts, query)],
    ['renewals', renderRenewals(facts)],
    ['usage', renderUsage(facts)],
    ['events', renderEvents(facts, query)],
  ];
  return new Map(parts.map(([id, { markup }]) => [id, markup]));
}

/** Returns the whole page. `answer` is `null` when no file was looked up. */
export function renderDocument(
  facts: PageFacts,
  query: PageQuery,
  access: PageAccess,
  answer: FileAnswer | null,
): string {
  const { nowMs, version, pid, startedAtMs } = facts;
  const parts = renderParts(facts, query, access.kind === 'open');
  const take = (id: string): Html => new Html(parts.get(id) ?? '');
  const body = html`<a class="skip" href="#verdict">Skip to the content</a>
    <header class="top">${take('whose')} ${LIVE_STATUS} ${renderSearch(query)}</header>
    <main>
      ${take('verdict')} ${renderAccess(access, query)}
      ${answer === null ? html`` : renderFile(query.file, answer, nowMs)}
      <div class="columns">
        <div>${take('sources')} ${take('under-way')} ${take('not-in-sync')} ${take('events')}</div>
        <div>${take('hosts')} ${take('history')} ${take('renewals')} ${take('usage')}</div>
      </div>
    </main>
    <footer>
      <p class="soft">
        botsync ${version}, process ${pid}, started ${relativeTime('ago', startedAtMs, nowMs)}. For programs:
        <a href="/status">status</a>, <a href="/metrics">metrics</a>, <a href="/readyz">readiness</a>.
      </p>
    </footer>`;
  return frame(take('page-title'), '/events', nowMs, body);
}

function renderWhose(facts: PageFacts): Html {
  const [bot, ...others] = facts.bots;
  const id =
    others.length === 0 && bot !== undefined && bot.name !== null ? html`${path(bot.id)} · ` : html``;
  return html`<h1 id="whose">
    ${name(botsText(facts))} <small>${id}botsync on ${name(facts.host)}</small>
  </h1>`;
}

/** Returns the title of the browser tab. Tabs cut it at the end, so the state comes first. */
function titleOf({ title, mood }: Verdict, facts: PageFacts): string {
  const mark = mood === 'needs-you' ? '! ' : '';
  return escapeControls(`${mark}${title} – ${botsText(facts)} – botsync on ${facts.host}`);
}

/** Renders since when something is wrong, and how old the knowledge is that the verdict rests on. */
function renderFreshness(pageFacts: PageFacts, mood: Verdict['mood']): Html {
  const { lastInSyncMs, known, running, nowMs } = pageFacts;
  const compared = known.lastVerification;
  const isWrong = mood === 'needs-you' || mood === 'waits';
  const sinceMs = isWrong ? firstTroubleMs(pageFacts) : null;
  const { configuration } = running;
  const inSync = mood === 'fine' ? 'confirmed' : 'last in sync';
  const facts = [
    ...(sinceMs === null ? [] : [html`since ${moment(sinceMs, nowMs)}`]),
    ...(lastInSyncMs === null ? [] : [html`${inSync} ${ago(lastInSyncMs, nowMs)}`]),
    ...(compared === null
      ? []
      : [html`compared with the bot ${ago(Date.parse(compared.finishedAt), nowMs)}`]),
    ...(configuration === undefined
      ? []
      : [html`configuration in use for ${relativeTime('for', Date.parse(configuration.loadedAt), nowMs)}`]),
  ];
  return facts.length === 0
    ? html``
    : html`<p class="soft">${facts.map((fact, index) => html`${index === 0 ? '' : ' · '}${fact}`)}</p>`;
}

/** Returns when the first trouble since everything was in sync was reported; `null`: none is among the recent events. */
function firstTroubleMs({ events, lastInSyncMs }: PageFacts): number | null {
  const isTrouble = ({ level, atMs }: PageEvent): boolean =>
    (level === 'warn' || level === 'error') && atMs > (lastInSyncMs ?? 0);
  return events.findLast(isTrouble)?.atMs ?? null;
}

function renderVerdict(verdict: Verdict, facts: PageFacts, mayAct: boolean): Html {
  const { mood, title, detail, advice, others } = verdict;
  const { outage = null } = facts.running;
  const trouble = facts.standing.troubles.find((one) => one.kind === 'halted');
  const halted = facts.known.sources.find((one) => one.name === trouble?.source);
  return html`<section id="verdict" class="verdict ${mood}" aria-labelledby="verdict-title">
    ${sign(mood)}
    <div>
      <h2 id="verdict-title">${name(title)}</h2>
      ${detail === null ? html`` : html`<p>${name(detail)}</p>`}
      ${outage === null ? html`` : renderOutage(outage, facts.nowMs)}
      ${advice === null ? html`` : renderAdvice(advice, facts)}
      ${mayAct && mood === 'needs-you' && halted !== undefined ? renderApproval(halted, facts) : html``}
      ${
        others === 0
          ? html``
          : html`<p><a href="#not-in-sync">${countText(others, 'other problem')}</a> below.</p>`
      }
      ${renderFreshness(facts, mood)}
    </div>
  </section> `;
}

function renderOutage(outage: NonNullable<PageFacts['running']['outage']>, nowMs: number): Html {
  const { since, nextTry } = outage;
  const again =
    nextTry === null ? html`with the next change` : relativeTime('in', Date.parse(nextTry), nowMs);
  return html`<p>Failing for ${relativeTime('for', Date.parse(since), nowMs)}; next attempt ${again}.</p>`;
}

function renderAdvice({ text, command: args }: Advice, { commandEnd }: PageFacts): Html {
  return html`<p>${text}</p>
    ${args === null ? html`` : html`<p>${command(args, commandEnd)}</p>`}`;
}

function renderSearch({ file }: PageQuery): Html {
  return html`<form class="search" method="get" action="/#explained" role="search" aria-label="A file">
    <label for="file">Look up a file</label>
    <input
      id="file"
      type="search"
      name="file"
      value="${file}"
      placeholder="source/path"
      autocomplete="off"
      spellcheck="false"
    />
    <button type="submit">Explain</button>
  </form>`;
}

function renderAccess(access: PageAccess, query: PageQuery): Html {
  switch (access.kind) {
    case 'look-only':
      return html``;
    case 'locked':
      return html`<section id="access" aria-label="Sign in">
        ${renderNotice(access.notice)}
        <details ${access.notice === null ? html`` : html`open`}>
          <summary>Sign in to approve, rescan and retry from this page</summary>
          <form class="sign-in" method="post" action="/session${pageQueryText(query)}">
            <label for="secret">Secret (service.control)</label>
            <input id="secret" type="password" name="secret" autocomplete="current-password" required />
            <button type="submit">Sign in</button>
          </form>
        </details>
      </section>`;
    case 'open':
      return html`<section id="access" aria-label="Actions">
        ${renderNotice(access.notice)}
        <form id="control" method="post" action="/control${pageQueryText(query)}">
          <input type="hidden" name="csrf" value="${access.csrfToken}" />
          ${actionButton('Rescan everything now', { kind: 'rescan', source: null })}
          ${actionButton('Sign out', { kind: 'sign-out' })}
        </form>
      </section>`;
  }
}

function renderNotice(notice: string | null): Html {
  return html`<p class="notice" role="status">${escapeControls(notice ?? '')}</p>`;
}
