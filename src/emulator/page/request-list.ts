import { html, type Html } from '../../web/html.ts';
import { relativeTime } from '../../web/relative-time.ts';
import { visibleName } from '../../web/visible-name.ts';
import type { RecordedRequest } from '../request-log.ts';
import { renderTable, type Column } from './elements.ts';

const COLUMNS: readonly Column[] = [
  { label: 'When', kind: 'text' },
  { label: 'Answer', kind: 'text' },
  { label: 'Request', kind: 'name' },
  { label: 'About', kind: 'name' },
];

/** A list of requests. `empty`: the words for none. */
export function renderRequests(requests: readonly RecordedRequest[], now: number, empty: string): Html {
  const rows = requests.map((request) => ({
    key: String(request.number),
    cells: [
      relativeTime('ago', request.at, now),
      renderAnswer(request),
      html`${request.operation} <span class="soft">${request.method} ${visibleName(request.path)}</span>`,
      request.key === undefined ? html`` : visibleName(request.key),
    ],
  }));
  return renderTable('Requests', COLUMNS, rows, empty);
}

function renderAnswer({ status }: RecordedRequest): Html {
  if (status === null) return html`<span class="status wait">none yet</span>`;
  return html`<span class="status ${status < 400 ? 'good' : 'bad'}">${status}</span>`;
}
