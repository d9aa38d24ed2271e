import prettyBytes from 'pretty-bytes';
import { html, type Html } from '../../web/html.ts';
import { relativeTime } from '../../web/relative-time.ts';
import { visibleName } from '../../web/visible-name.ts';
import { FILE_SORTS, FILE_TRAITS, type FileSort, type FileTrait } from '../file-search.ts';
import { FILE_STATUSES, type FileStatus } from '../file-status.ts';
import { count, renderTable, renderTags, type Column } from './elements.ts';
import { addressOf, type FileChoice, type ShownFile } from './page-view.ts';

const COLUMNS: readonly Column[] = [
  { label: 'Key', kind: 'name' },
  { label: 'Status', kind: 'text' },
  { label: 'Size', kind: 'number' },
  { label: 'Content type', kind: 'type' },
  { label: 'Uploaded', kind: 'text' },
  { label: 'Expires', kind: 'text' },
  { label: 'Tags', kind: 'text' },
];

const TRAIT_WORDS: Readonly<Record<FileTrait, string>> = {
  indexed: 'indexed',
  'not-indexed': 'not indexed',
  public: 'public',
  expiring: 'with an expiry',
};

const SORT_WORDS: Readonly<Record<FileSort, string>> = { key: 'key', latest: 'latest change' };

/** The form that chooses among the files of a bot. */
export function renderFilter({ contains, status, trait, sort }: FileChoice, bot: string): Html {
  const option = (value: string, text: string, isChosen: boolean): Html =>
    isChosen
      ? html`<option value="${value}" selected>${text}</option>`
      : html`<option value="${value}">${text}</option>`;
  return html`<form class="filter" method="get" action="/" role="search" aria-label="Filter" data-live-form>
    <input type="hidden" name="bot" value="${bot}" />
    <label class="wide"
      >Key contains
      <input type="search" name="filter" value="${contains}" autocomplete="off" spellcheck="false"
    /></label>
    <label
      >Status
      <select name="status">
        ${option('', 'any', status === null)}
        ${FILE_STATUSES.map((one) => option(one, statusText(one), one === status))}
      </select></label
    >
    <label
      >Files
      <select name="only">
        ${option('', 'all', trait === null)}
        ${FILE_TRAITS.map((one) => option(one, TRAIT_WORDS[one], one === trait))}
      </select></label
    >
    <label
      >Sorted by
      <select name="sort">
        ${FILE_SORTS.map((one) => option(one === 'key' ? '' : one, SORT_WORDS[one], one === sort))}
      </select></label
    >
    <button>Show</button>
  </form>`;
}

/** Whether a choice leaves files out. */
export function isNarrow({ contains, status, trait }: FileChoice): boolean {
  return contains !== '' || status !== null || trait !== null;
}

/** Files, each with a link to its facts. */
export function renderFiles(files: readonly ShownFile[], bot: string, now: number, empty: string): Html {
  const rows = files.map((file) => ({ key: file.id, cells: renderFile(file, bot, now) }));
  return renderTable('Files', COLUMNS, rows, empty);
}

function renderFile(file: ShownFile, bot: string, now: number): Html[] {
  const owner = file.owner.type === 'bot' ? html`` : html` <span class="soft">of ${file.owner.id}</span>`;
  return [
    html`<a href="${addressOf({ bot, file: file.id })}">${visibleName(file.key)}</a>${owner}`,
    html`${renderStatus(file)}${renderMarks(file)}`,
    html`<span title="${count(file.size, 'byte')}">${prettyBytes(file.size)}</span>`,
    html`${visibleName(file.contentType)}`,
    renderUploaded(file, now),
    renderExpiry(file, now),
    renderTags(file.tags),
  ];
}

/** The status of a file, with the reason when it is a failure. */
export function renderStatus({ status, failedStatusReason }: ShownFile): Html {
  const reason =
    failedStatusReason === undefined
      ? html``
      : html`<span class="reason">${visibleName(failedStatusReason)}</span>`;
  return html`<span class="status ${STATUS_CLASSES[status]}">${statusText(status)}</span>${reason}`;
}

/** Marks for what is wanted of a file: to be indexed, to be public. */
export function renderMarks({ index, accessPolicies }: ShownFile): Html {
  const marks = [
    ...(index ? ['index on'] : []),
    ...(accessPolicies.includes('public_content') ? ['public'] : []),
    ...(accessPolicies.includes('integrations') ? ['for integrations'] : []),
  ];
  return html`<span class="marks">${marks.map((mark) => html`<span class="mark">${mark}</span> `)}</span>`;
}

function renderUploaded({ uploadedAt }: ShownFile, now: number): Html {
  return uploadedAt === null ? html`<span class="soft">not yet</span>` : relativeTime('ago', uploadedAt, now);
}

function renderExpiry({ expiresAt }: ShownFile, now: number): Html {
  return expiresAt === undefined
    ? html`<span class="soft">never</span>`
    : relativeTime('in', Date.parse(expiresAt), now);
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
