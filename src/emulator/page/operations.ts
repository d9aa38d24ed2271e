import { namesThisMachine } from '../../service/request-origin.ts';
import { PAGE_POLICY } from '../../page/frame.ts';
import type { OperationResult } from '../answer.ts';
import { describeFile } from '../file-resource.ts';
import type { Operation } from '../operation.ts';
import { viewOf } from './view.ts';
import { OPEN_PATH, renderParts, EVENTS_PATH, renderPage } from './render.ts';
import type { EmulatorRequest } from '../request.ts';
import { withoutRelativeText } from '../../page/markup.ts';
import { PageStreams } from '../../service/page-streams.ts';
import { systemClock } from '../../service/system-clock.ts';
import type { Platform } from '../platform.ts';

export const showPage: Operation = {
  name: 'page',
  method: 'GET',
  pattern: '/',
  surface: 'page',

  answer(request, platform): OperationResult {
    const refusal = refuseOtherHost(request);
    if (refusal !== null) return refusal;
    return {
      kind: 'text',
      status: 200,
      body: renderPage(viewOf(request.query, platform)),
      headers: {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Security-Policy': PAGE_POLICY,
        'Referrer-Policy': 'no-referrer',
        'X-Content-Type-Options': 'nosniff',
        'Cache-Control': 'no-store',
      },
    };
  },
};

/** GET /events: the stream of the page; the query is that of the page. */
export const followPage: Operation = {
  name: 'page-events',
  method: 'GET',
  pattern: EVENTS_PATH,
  surface: 'page',

  answer: (request) => refuseOtherHost(request) ?? { kind: 'events', headers: {} },
};

/** GET /open/{id}: redirects to the content of a file. */
export const openContent: Operation = {
  name: 'page-content',
  method: 'GET',
  pattern: `${OPEN_PATH}/:file`,
  surface: 'page',

  answer(request, platform): OperationResult {
    const refusal = refuseOtherHost(request);
    if (refusal !== null) return refusal;
    const file = platform.files.findById(request.param('file'));
    return file === null
      ? text(404, 'There is no such file, or not any more.')
      : { ...text(302, ''), headers: { Location: describeFile(file, platform).url } };
  },
};

/** Refuses other hosts: a website whose name was made to resolve to this machine must not read the page. */
function refuseOtherHost(request: EmulatorRequest): OperationResult | null {
  return namesThisMachine(request.headers.host)
    ? null
    : text(403, 'This page is only shown under localhost or an IP address.');
}

function text(status: number, line: string): OperationResult {
  return {
    kind: 'text',
    status,
    body: `${line}\n`,
    headers: { 'Content-Type': 'text/plain; charset=utf-8' },
  };
}

/** Interval of rendering the page, which depends on the clock, in milliseconds. */
const LOOK_MS = 1000;

/** Keeps open pages up to date. */
export function streamPage(platform: Platform): PageStreams {
  const page = {
    // The script updates the relative times.
    parts: (query: URLSearchParams): Promise<ReadonlyMap<string, string>> => {
      const parts = [...renderParts(viewOf(query, platform))];
      return Promise.resolve(new Map(parts.map(([id, markup]) => [id, withoutRelativeText(markup)])));
    },
    subscribe: (changed: () => void): (() => void) => {
      const timer = setInterval(changed, LOOK_MS);
      return () => {
        clearInterval(timer);
      };
    },
  };
  const clock = { ...systemClock, now: () => platform.now() };
  // No parts can be rendered after the data is closed.
  return new PageStreams(page, clock, () => undefined);
}
