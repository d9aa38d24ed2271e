import type { OperationResult } from '../answer.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { followParts } from '../page/page-stream.ts';
import { EVENTS_PATH } from '../page/render-page.ts';
import { refuseOtherHost } from './show-page.ts';

/** GET /events: the events that keep the page up to date; the query is that of the page. */
export const followPage: Operation = {
  name: 'page-events',
  method: 'GET',
  pattern: EVENTS_PATH,
  surface: 'page',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const query = new URLSearchParams(request.query);
    return refuseOtherHost(request) ?? { kind: 'events', follow: followParts(query, platform), headers: {} };
  },
};
