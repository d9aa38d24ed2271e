import { html, type Html } from '../../web/html.ts';
import { exactTime, relativeTime } from '../../web/relative-time.ts';
import { visibleName } from '../../web/visible-name.ts';
import type { FileDetails } from '../stored-file.ts';
import { count, renderFacts, renderTags } from './elements.ts';
import { renderMarks, renderStatus } from './file-list.ts';
import type { ShownFile } from './page-view.ts';

/** Everything that is known of a file. */
export function renderFileFacts(file: ShownFile, details: FileDetails, now: number): Html {
  const { owner } = file;
  return renderFacts([
    ['Status', renderStatus(file)],
    ['Marks', file.index || file.accessPolicies.length > 0 ? renderMarks(file) : null],
    ['Content', renderContent(file)],
    ['Size', html`${count(file.size, 'byte')}`],
    ['Content type', visibleName(file.contentType)],
    ['Uploaded', file.uploadedAt === null ? html`not yet` : renderMoment('ago', file.uploadedAt, now)],
    [
      'Expires',
      file.expiresAt === undefined ? html`never` : renderMoment('in', Date.parse(file.expiresAt), now),
    ],
    ['Created', renderMoment('ago', Date.parse(file.createdAt), now)],
    ['Changed', renderMoment('ago', Date.parse(file.updatedAt), now)],
    ['Public at once', details.publicImmediately ? html`yes` : null],
    ['Owner', html`${owner.type} ${visibleName(owner.id)}`],
    ['Tags', Object.keys(file.tags).length === 0 ? null : renderTags(file.tags)],
    ['Metadata', renderJson(file.metadata)],
    ['Indexing', details.indexing === null ? null : renderJson(details.indexing)],
    ['Indexing stack', file.indexingStack === undefined ? null : html`${file.indexingStack}`],
    ['Id', html`<code>${file.id}</code>`],
  ]);
}

function renderMoment(form: 'ago' | 'in', at: number, now: number): Html {
  return html`${relativeTime(form, at, now)} <span class="soft">${exactTime(at)}</span>`;
}

/** Before its content has come, and when it was refused, there is nothing to look at. */
function renderContent({ status, url }: ShownFile): Html {
  return status === 'upload_pending' || status === 'upload_failed'
    ? html`<span class="soft">none</span>`
    : html`<a href="${url}">Open the content</a>`;
}

function renderJson(value: Readonly<Record<string, unknown>>): Html | null {
  return Object.keys(value).length === 0
    ? null
    : html`<pre dir="auto">${JSON.stringify(value, null, 2)}</pre>`;
}
