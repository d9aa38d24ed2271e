import { bytesText, countText, durationText } from '../service/amounts.ts';
import { html, type Html } from './html.ts';
import { andMore, ago, name, part, path, soon } from './markup.ts';
import type { Flight, PageFacts } from './facts.ts';

const FLIGHTS_SHOWN = 20;

export function renderUnderWay(facts: PageFacts): Html {
  const { running, transfers, nowMs } = facts;
  const { lastPass } = facts.known;
  const { inFlight, bytesPerSecond, leftMs, firstPass } = transfers;
  const { activity, queued = 0, nextPass = null } = running;
  const pauses = pausesOf(facts);
  const rate = bytesPerSecond >= 1 ? `${bytesText(bytesPerSecond)}/s` : '';
  const left = leftMs === null ? '' : `about ${durationText(leftMs)} left`;
  const note = [rate, left].filter((text) => text !== '').join(', ');
  const doing = { starting: 'Starting', pass: 'Full pass running', watching: 'Waiting for changes' };
  const content = html`<div class="card pad">
    <p>
      ${activity === undefined ? 'Starting' : doing[activity]}${
        queued > 0 ? `; ${countText(queued, 'change')} waiting` : ''
      }${lastPass === null ? html`` : html`; last full pass ${ago(Date.parse(lastPass.finishedAt), nowMs)}`}${
        activity === 'watching' && nextPass !== null
          ? html`, next ${soon(Date.parse(nextPass), nowMs)}`
          : html``
      }
    </p>
    ${firstPass === null ? html`` : renderFirstPass(firstPass)}
    ${pauses.map((pause) => html`<p>${pause}</p>`)}
    ${
      inFlight.length === 0
        ? html``
        : html`<ul class="flights">
            ${inFlight.slice(0, FLIGHTS_SHOWN).map((flight) => renderFlight(flight, nowMs))}
          </ul>`
    }
    ${andMore(inFlight.length - FLIGHTS_SHOWN, 'more file')}
  </div>`;
  return part('under-way', 'Under way', note, content);
}

function renderFirstPass({
  files,
  bytes,
  ofFiles,
  ofBytes,
}: NonNullable<PageFacts['transfers']['firstPass']>): Html {
  const label = `${files.toLocaleString('en')} of ${countText(ofFiles, 'file')} sent; ${bytesText(bytes)} of ${bytesText(ofBytes)} transferred`;
  return html`<p>
    <progress
      max="${Math.max(1, ofBytes)}"
      value="${Math.min(bytes, ofBytes)}"
      aria-label="First pass"
    ></progress>
    ${label}
  </p>`;
}

function renderFlight({ name: file, sizeBytes, sentBytes, forMs }: Flight, nowMs: number): Html {
  const amount = `${bytesText(sentBytes)} of ${bytesText(sizeBytes)}`;
  return html`<li data-key="${file}">
    ${path(file)}
    <progress max="${Math.max(1, sizeBytes)}" value="${sentBytes}" aria-label="${amount}"></progress>
    <span class="soft">${amount}, started ${ago(nowMs - forMs, nowMs)}</span>
  </li> `;
}

/** Returns why less is sent than could be: limits of the platform, or our own. */
function pausesOf({ requests, running, nowMs }: PageFacts): Html[] {
  const { pausedForMs, ownRequestsPerSecond, ownBytesPerSecond } = requests;
  const own = [
    ...(ownRequestsPerSecond === null
      ? []
      : [`${ownRequestsPerSecond.toLocaleString('en')} requests/s (upload.maxRequestsPerSecond)`]),
    ...(ownBytesPerSecond === null ? [] : [`${bytesText(ownBytesPerSecond)}/s (upload.maxBytesPerSecond)`]),
  ];
  const { outage = null, refusal = null, shortage = null } = running;
  return [
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
    ...(own.length === 0 ? [] : [html`Limited to ${own.join(' and ')}`]),
  ];
}
