import { bytesText, countText } from '../service/amounts.ts';
import { FILE_GROUPS, type FileGroup, type SourceStatus } from '../domain/status.ts';
import type { FileEntry, ListPlace } from '../sync/plan/list-files.ts';
import { countOf, GROUP_WORDS, PLATFORM_WORDS } from '../words/files.ts';
import { placeOf } from '../words/place.ts';
import type { PageFacts } from './facts.ts';
import { filesAddress, type FilesQuery } from './files-query.ts';
import { frame } from './frame.ts';
import { html, type Html } from './html.ts';
import { fileAddress, moment, name, option, part, path, table, type Column } from './markup.ts';
import { botsText } from './whose.ts';

/** A page of the list. */
export interface FilePage {
  readonly entries: readonly FileEntry[];
  /** Where the list continues; `null`: it ends here. */
  readonly next: ListPlace | null;
  /** Files that were checked for this page, if that is why it ends; `null`: it ends for another reason. */
  readonly checked: number | null;
}

/** @param page - a page of the list, or why there is none. */
export function renderFiles(facts: PageFacts, query: FilesQuery, page: FilePage | string): string {
  const whose = `${botsText(facts)} · botsync on ${facts.host}`;
  const body = html`<header class="top">
      <h1>Files <small>${name(whose)}</small></h1>
      <a href="/">Status</a>
    </header>
    <main>${renderList(facts, query, page)}</main>`;
  return frame(html`<title>Files – ${name(whose)}</title>`, null, facts.nowMs, body);
}

const COLUMNS: readonly Column[] = [
  { label: 'File', kind: 'name' },
  { label: 'State', kind: 'text' },
  { label: 'Size', kind: 'number' },
  { label: 'Expires', kind: 'text' },
];

function renderList(facts: PageFacts, query: FilesQuery, page: FilePage | string): Html {
  const { nowMs, known } = facts;
  const sources = listedSources(facts);
  const here =
    known.cluster === undefined
      ? html``
      : html`<p class="soft">
          Only sources that this host syncs now:
          ${sources.length === 0 ? html`none` : name(sources.map((one) => one.name).join(', '))}.
        </p>`;
  const form = renderFilter(sources, query);
  const title = query.state === '' ? 'All files' : `Files: ${GROUP_WORDS[query.state]}`;
  if (typeof page === 'string') {
    return part(
      'files',
      title,
      '',
      html`${here}${form}
        <div class="card"><p class="empty">${page}</p></div>`,
    );
  }
  const rows = page.entries.map((entry, index) => ({ key: String(index), cells: renderEntry(entry, nowMs) }));
  const isWhole = query.after === null && page.next === null;
  const none = isFiltered(query) ? 'No file is like that.' : 'No file is on record.';
  const empty = page.next !== null ? 'No file found yet.' : isWhole ? none : 'No more files.';
  const note = html`${countText(page.entries.length, 'file')}${isWhole ? '' : ' on this page'}, at
  ${moment(nowMs, nowMs)}`;
  return part(
    'files',
    title,
    note,
    html`${here}${form}${table('Files', COLUMNS, rows, empty)} ${renderPages(query, page)}`,
  );
}

function isFiltered({ source, state, text }: FilesQuery): boolean {
  return source !== '' || state !== '' || text !== '';
}

/** Returns the sources that this host syncs. */
function listedSources({ known, sources }: PageFacts): SourceStatus[] {
  return known.sources.filter(
    (one) => one.syncedBy === undefined && sources.some((source) => source.name === one.name),
  );
}

function renderFilter(sources: readonly SourceStatus[], { source, state, text }: FilesQuery): Html {
  const counted = sources.filter((one) => source === '' || one.name === source);
  const label = (group: FileGroup): string => {
    const counts = counted.map((one) => countOf(one, group));
    const sum = counts.reduce<number>((total, count) => total + (count ?? 0), 0);
    return counts.includes(null) ? GROUP_WORDS[group] : `${GROUP_WORDS[group]}: ${sum.toLocaleString('en')}`;
  };
  return html`<form class="filter" method="get" action="/files" role="search" aria-label="Files">
    <label
      >Source
      <select name="source">
        ${option('', source, 'all')} ${sources.map((one) => option(one.name, source))}
      </select></label
    >
    <label
      >State
      <select name="state">
        ${option('', state, 'all')} ${FILE_GROUPS.map((group) => option(group, state, label(group)))}
      </select></label
    >
    <label class="wide"
      >Path contains <input type="search" name="text" value="${text}" autocomplete="off" spellcheck="false"
    /></label>
    <button type="submit">Filter</button>
  </form>`;
}

const MARKS: Readonly<Record<FileGroup, 'good' | 'wait' | 'bad' | ''>> = {
  'in-sync': 'good',
  unconfirmed: 'wait',
  sending: 'wait',
  waiting: 'wait',
  failed: 'bad',
  refused: 'bad',
  problem: 'bad',
  unsearchable: 'bad',
  'to-remove': 'wait',
  kept: '',
  gone: '',
};

/** Groups whose word says more than the state on the platform. */
const NAMED = new Set<FileGroup>(['refused', 'problem', 'waiting']);

function renderEntry(entry: FileEntry, nowMs: number): Html[] {
  const { source, path: file, key, botId, local, platform, group, bytes, expiresAt, reason } = entry;
  const isNamed = NAMED.has(group);
  const word = isNamed ? GROUP_WORDS[group] : PLATFORM_WORDS[platform];
  const earlier = isNamed && platform !== 'refused' && platform !== 'none';
  const notes = [
    ...(earlier ? [`on the platform as it was: ${PLATFORM_WORDS[platform]}`] : []),
    ...(local === 'gone' ? ['no local file'] : []),
    ...(entry.isUnderOwnKey ? [] : [`key ${key ?? ''} of ${botId}`]),
  ];
  const why = reason === null ? html`` : html`<span class="reason">${name(reason)}</span>`;
  return [
    html`<a href="${fileAddress(source, file)}">${path(placeOf(source, file))}</a>`,
    html`<span class="status ${MARKS[group]}">${word}</span>
      ${notes.length === 0 ? html`` : html`<div class="soft">${name(notes.join('; '))}</div>`}${why}`,
    platform === 'none' || (platform === 'refused' && bytes === 0) ? html`` : html`${bytesText(bytes)}`,
    expiresAt === null ? html`` : moment(Date.parse(expiresAt), nowMs),
  ];
}

function renderPages(query: FilesQuery, { next, checked }: FilePage): Html {
  if (query.after === null && next === null) return html``;
  const cut =
    checked === null ? html`` : html`<span class="soft">${countText(checked, 'file')} checked so far.</span>`;
  return html`<nav class="pages" aria-label="Pages of files">
    ${query.after === null ? html`` : html`<a href="${filesAddress({ ...query, after: null })}">First page</a>`}
    ${cut}
    ${next === null ? html`` : html`<a href="${filesAddress({ ...query, after: next })}" rel="next">${checked === null ? 'Next page' : 'Continue'}</a>`}
  </nav>`;
}
