import { bytesText, countText, durationText } from '../service/amounts.ts';
import { html, type Html } from './html.ts';
import { andMore, ago, name, part, path, soon } from './markup.ts';
import type { Flight, PageFacts } from './facts.ts';
import { describeFirstPass } from './verdict.ts';

const FLIGHTS_SHOWN = 20;

/** Below this size a transfer is over before its progress can be read. */
const SMALL_BYTES = 1_000_000;

export function renderUnderWay(facts: PageFacts): Html {
  const { running, transfers, nowMs } = facts;
  const { lastPass } = facts.known;
  const { inFlight, bytesPerSecond, filesPerSecond, leftMs, firstPass } = transfers;
  const { activity, queued = 0, nextPass = null } = running;
  const pauses = pausesOf(facts);
  const large = inFlight.filter(({ sizeBytes }) => sizeBytes >= SMALL_BYTES);
  const small = inFlight.length - large.length;
  const isPaused = pauses.length > 0;
  const rate = bytesPerSecond >= 1 ? `${bytesText(bytesPerSecond)}/s` : '';
  const left = leftMs === null ? '' : `about ${durationText(leftMs)} left`;
  const note = [rate, left].filter((text) => text !== '').join(', ');
  const doing = { starting: 'Starting', pass: 'Full pass running', watching: 'Waiting for changes' };
  const content = html`<div class="card pad">
    <p>
      ${activity === undefined ? 'Starting' : isPaused && activity === 'watching' ? 'Paused' : doing[activity]}${
        queued > 0 ? `; ${countText(queued, 'change')} waiting` : ''
      }${lastPass === null ? html`` : html`; last full pass ${ago(Date.parse(lastPass.finishedAt), nowMs)}`}${
        activity === 'watching' && nextPass !== null
          ? html`, next ${soon(Date.parse(nextPass), nowMs)}`
          : html``
      }
    </p>
    ${firstPass === null ? html`` : renderFirstPass(firstPass)}
    ${[...pauses, ...limitsOf(facts)].map((line) => html`<p>${line}</p>`)}
    ${
      large.length === 0
        ? html``
        : html`<ul class="flights">
            ${large.slice(0, FLIGHTS_SHOWN).map((flight) => renderFlight(flight, nowMs))}
          </ul>`
    }
    ${andMore(large.length - FLIGHTS_SHOWN, 'more large file')} ${renderSmall(small, filesPerSecond)}
  </div>`;
  return part('under-way', 'Under way', note, content);
}

function renderFirstPass(firstPass: NonNullable<PageFacts['transfers']['firstPass']>): Html {
  return html`<p>
    <progress max="1" value="${firstPass.part.toFixed(3)}" aria-label="First pass"></progress>
    ${describeFirstPass(firstPass)}
  </p>`;
}

/** Renders all small transfers in one line. */
function renderSmall(count: number, filesPerSecond: number): Html {
  if (count === 0) return html``;
  const rate = filesPerSecond < 1 ? '' : `, ${Math.round(filesPerSecond).toLocaleString('en')} files/s`;
  return html`<p>${countText(count, 'transfer')} of small files${rate}</p>`;
}

function renderFlight({ name: file, sizeBytes, sentBytes, forMs }: Flight, nowMs: number): Html {
  const amount = `${bytesText(sentBytes)} of ${bytesText(sizeBytes)}`;
  return html`<li data-key="${file}">
    ${path(file)}
    <progress max="${Math.max(1, sizeBytes)}" value="${sentBytes}" aria-label="${amount}"></progress>
    <span class="soft">${amount}, started ${ago(nowMs - forMs, nowMs)}</span>
  </li> `;
}

/** Returns why nothing is sent, or nothing of some kind. */
function pausesOf({ requests: { pausedForMs }, running, nowMs }: PageFacts): Html[] {
  const { outage = null, refusal = null, shortage = null, pause = null } = running;
  return [
    ...(pause === null ? [] : [html`Paused by a command: nothing is sent, changed or removed`]),
    ...(pausedForMs > 0
      ? [html`Paused: the platform asked us to wait; continuing ${soon(nowMs + pausedForMs, nowMs)}`]
      : []),
    ...(outage === null
      ? []
      : [
          html`Paused: the platform is unreachable;
          ${
            outage.nextTry === null
              ? html`retried with the next change`
              : html`next attempt ${soon(Date.parse(outage.nextTry), nowMs)}`
          }`,
        ]),
    ...(refusal === null ? [] : [html`Paused: the platform refuses the credentials (${name(refusal)})`]),
    ...(shortage === null ? [] : [html`Paused for files that need more storage (${name(shortage)})`]),
  ];
}

/** Returns the limits of the configuration. */
function limitsOf({ requests: { ownRequestsPerSecond, ownBytesPerSecond } }: PageFacts): Html[] {
  const own = [
    ...(ownRequestsPerSecond === null
      ? []
      : [`${ownRequestsPerSecond.toLocaleString('en')} requests/s (upload.maxRequestsPerSecond)`]),
    ...(ownBytesPerSecond === null ? [] : [`${bytesText(ownBytesPerSecond)}/s (upload.maxBytesPerSecond)`]),
  ];
  return own.length === 0 ? [] : [html`Limited to ${own.join(' and ')}`];
}
