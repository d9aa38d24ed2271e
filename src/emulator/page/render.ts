import { frame } from '../../page/frame.ts';
import { ago, name, option, part, soon, table, type Column } from '../../page/markup.ts';
import { bytesText, countText } from '../../service/amounts.ts';
import { html, type Html } from '../../page/html.ts';
import { LIVE_STATUS } from '../../page/live-script.ts';
import { FILE_STATUSES, type FileStatus } from '../stored-file.ts';
import type { MessageResource } from '../chat.ts';
import type { RecordedRequest } from '../request-log.ts';
import { addressOf, FILES_A_PAGE, type PageChoice, type PageView, type ShownFile } from './view.ts';

/** The stream of the page. */
export const EVENTS_PATH = '/events';

export function renderPage(view: PageView): string {
  const { baseUrl, chatAddress, workspaceId, choice, now } = view;
  const body = html`<header>
      <div class="title">
        <h1>botsync emulator</h1>
        ${LIVE_STATUS}
      </div>
      <dl>
        <dt>Main address</dt>
        <dd><code>${baseUrl}</code></dd>
        <dt>Chat address</dt>
        <dd><code>${chatAddress}</code></dd>
        <dt>Workspace</dt>
        <dd><code>${workspaceId}</code></dd>
      </dl>
      ${renderBots(view)}
    </header>
    <main>
      ${renderDepartures(view)} ${renderFiles(view)} ${renderRequests(view)} ${renderMessages(view)}
    </main>`;
  return frame(html`<title>botsync emulator – ${choice.bot}</title>`, EVENTS_PATH, now, body);
}

/** Returns the changing parts of the page, by the id of their element. */
export function renderParts(view: PageView): Map<string, string> {
  return new Map(
    Object.entries({
      bots: renderBots(view),
      departures: renderDepartures(view),
      files: renderFiles(view),
      requests: renderRequests(view),
      messages: renderMessages(view),
    }).map(([id, { markup }]) => [id, markup]),
  );
}

function renderBots({ bots, choice }: PageView): Html {
  const links = bots.map((bot) => {
    const mark = bot.id === choice.bot ? html`aria-current="page"` : html``;
    const title = bot.name === bot.id ? bot.id : `${bot.name} (${bot.id})`;
    return html`<a href="/?${new URLSearchParams({ bot: bot.id }).toString()}" data-key="${bot.id}" ${mark}
      >${name(title)}<small>${countText(bot.files, 'file')}, ${bytesText(bot.bytes)}</small></a
    >`;
  });
  return html`<nav class="bots" id="bots" aria-label="Bots">${links}</nav>`;
}

function renderDepartures({ departures }: PageView): Html {
  return html`<div id="departures">${departures.map((one) => html`<p class="note">${name(one)}</p>`)}</div>`;
}

function renderFilter({ bot, filter, status }: PageChoice): Html {
  return html`<form class="filter" method="get" action="/" role="search" aria-label="Filter" data-live-form>
    <input type="hidden" name="bot" value="${bot}" />
    <label class="wide"
      >Key contains
      <input type="search" name="filter" value="${filter}" autocomplete="off" spellcheck="false"
    /></label>
    <label
      >Status
      <select name="status">
        ${option('', status ?? '', 'any')}
        ${FILE_STATUSES.map((one) => option(one, status ?? '', statusText(one)))}
      </select></label
    >
    <button type="submit">Show</button>
  </form>`;
}

function renderFiles({ files, filesFound, choice, now }: PageView): Html {
  const isNarrow = choice.filter !== '' || choice.status !== null;
  const rows = files.map((file) => ({ key: file.id, cells: renderFile(file, now) }));
  const empty = isNarrow ? 'No file is like that.' : 'No files yet.';
  const found = isNarrow ? `${countText(filesFound, 'file')} found` : filesFound.toLocaleString('en');
  const pages = Math.ceil(filesFound / FILES_A_PAGE);
  const link = (page: number, text: string): Html =>
    page < 1 || page > pages
      ? html`<span class="soft">${text}</span>`
      : html`<a href="${addressOf({ ...choice, page })}">${text}</a>`;
  const links =
    pages <= 1
      ? html``
      : html`<nav class="pages" aria-label="Pages of files">
          ${link(choice.page - 1, 'Previous')}<span>Page ${choice.page} of ${pages}</span
          >${link(choice.page + 1, 'Next')}
        </nav>`;
  return part(
    'files',
    'Files',
    found,
    html`${renderFilter(choice)} ${table('Files', FILE_COLUMNS, rows, empty)} ${links}`,
  );
}

const REQUEST_COLUMNS: readonly Column[] = [
  { label: 'When', kind: 'text' },
  { label: 'Answer', kind: 'text' },
  { label: 'Request', kind: 'name' },
  { label: 'About', kind: 'name' },
];

function renderRequests({ requests, now }: PageView): Html {
  const rows = folded(requests).map(({ request, first, count }) => ({
    // The first one stays the same while others are added.
    key: String(first),
    cells: [
      ago(request.at, now),
      renderAnswer(request),
      html`${request.operation} <span class="soft">${request.method} ${name(request.path)}</span> ${
          count === 1 ? html`` : html`<strong>${count.toLocaleString('en')} times</strong>`
        }`,
      request.key === undefined ? html`` : name(request.key),
    ],
  }));
  const note = `the latest ${requests.length}, of all bots`;
  return part('requests', 'Requests', note, table('Requests', REQUEST_COLUMNS, rows, 'No requests yet.'));
}

/** Requests that follow each other and are the same but for their time: the latest, the number of the first, the count. */
interface Folded {
  readonly request: RecordedRequest;
  first: number;
  count: number;
}

/** @param requests - the latest first. */
function folded(requests: readonly RecordedRequest[]): Folded[] {
  const all: Folded[] = [];
  for (const request of requests) {
    const last = all.at(-1);
    if (last !== undefined && isRepeated(last.request, request)) {
      last.first = request.number;
      last.count += 1;
    } else all.push({ request, first: request.number, count: 1 });
  }
  return all;
}

function isRepeated(one: RecordedRequest, other: RecordedRequest): boolean {
  const isSameQuestion =
    one.operation === other.operation && one.method === other.method && one.path === other.path;
  return isSameQuestion && one.status === other.status && one.key === other.key;
}

function renderAnswer({ status }: RecordedRequest): Html {
  if (status === null) return html`<span class="status wait">none yet</span>`;
  return html`<span class="status ${status < 400 ? 'good' : 'bad'}">${status}</span>`;
}

const MESSAGE_COLUMNS: readonly Column[] = [
  { label: 'When', kind: 'text' },
  { label: 'From', kind: 'text' },
  { label: 'Conversation', kind: 'name' },
  { label: 'Message', kind: 'name' },
];

function renderMessages({ messages, now }: PageView): Html {
  const rows = messages.map((message) => ({
    key: message.id,
    cells: [
      ago(Date.parse(message.createdAt), now),
      name(message.userId),
      html`<code>${message.conversationId}</code>`,
      renderPayload(message),
    ],
  }));
  const note = rows.length === 0 ? '' : `the latest ${rows.length}`;
  return part('messages', 'Messages', note, table('Messages', MESSAGE_COLUMNS, rows, 'No messages yet.'));
}

function renderPayload({ payload }: MessageResource): Html {
  const text = payload.type === 'text' ? payload['text'] : null;
  return html`<pre dir="auto">${typeof text === 'string' ? text : JSON.stringify(payload, null, 2)}</pre>`;
}

/** The id of a file follows: redirects to its content. */
export const OPEN_PATH = '/open';

const FILE_COLUMNS: readonly Column[] = [
  { label: 'Key', kind: 'name' },
  { label: 'Status', kind: 'text' },
  { label: 'Size', kind: 'number' },
  { label: 'Content type', kind: 'type' },
  { label: 'Uploaded', kind: 'text' },
  { label: 'Expires', kind: 'text' },
  { label: 'Facts', kind: 'text' },
];

function renderFile(file: ShownFile, now: number): Html[] {
  const { uploadedAt, expiresAt } = file;
  return [
    renderKey(file),
    html`${renderStatus(file)}${renderMarks(file)}`,
    html`${bytesText(file.size)}`,
    name(file.contentType),
    uploadedAt === null ? html`<span class="soft">not yet</span>` : ago(uploadedAt, now),
    expiresAt === undefined ? html`<span class="soft">never</span>` : soon(Date.parse(expiresAt), now),
    html`<details>
      <summary>All</summary>
      <pre dir="auto">${JSON.stringify({ ...file, url: undefined }, null, 2)}</pre>
    </details>`,
  ];
}

/** A file without content has no link. */
function renderKey({ id, key, status, owner }: ShownFile): Html {
  const isThere = status !== 'upload_pending' && status !== 'upload_failed';
  const by = owner.type === 'bot' ? html`` : html` <span class="soft">of ${name(owner.id)}</span>`;
  return isThere ? html`<a href="${OPEN_PATH}/${id}">${name(key)}</a>${by}` : html`${name(key)}${by}`;
}

function renderStatus({ status, failedStatusReason }: ShownFile): Html {
  const reason =
    failedStatusReason === undefined ? html`` : html`<span class="reason">${name(failedStatusReason)}</span>`;
  return html`<span class="status ${STATUS_CLASSES[status]}">${statusText(status)}</span>${reason}`;
}

function renderMarks({ index, accessPolicies, tags }: ShownFile): Html {
  const marks = [
    ...(index ? ['index on'] : []),
    ...(accessPolicies.includes('public_content') ? ['public'] : []),
    ...(accessPolicies.includes('integrations') ? ['for integrations'] : []),
    ...Object.entries(tags).map(([tag, value]) => `${tag}: ${value}`),
  ];
  return html`<span class="marks"
    >${marks.map((mark) => html`<span class="mark">${name(mark)}</span> `)}</span
  >`;
}

function statusText(status: FileStatus): string {
  return status.replaceAll('_', ' ');
}

const STATUS_CLASSES: Readonly<Record<FileStatus, string>> = {
  upload_pending: 'wait',
  upload_failed: 'bad',
  upload_completed: 'good',
  indexing_pending: 'wait',
  indexing_in_progress: 'wait',
  indexing_failed: 'bad',
  indexing_completed: 'good',
};
