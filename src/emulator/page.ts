import ms from 'ms';
import prettyBytes from 'pretty-bytes';
import type { ConversationResource, MessageResource } from './chat-resources.ts';
import type { SizedFile } from './file-resource.ts';
import type { FileStatus } from './file-status.ts';
import { html, type Html } from '../web/html.ts';
import type { EmulatorBot } from './options.ts';
import { STYLE_ELEMENT } from '../web/style.ts';

/** A stretch of a list: `page` counts from 1. */
export interface PageSlice<T> {
  readonly items: readonly T[];
  readonly page: number;
  readonly pages: number;
  readonly total: number;
}

/** Everything the page shows. No token and no user key: it is a page for looking at things over a shoulder. */
export interface PageView {
  readonly baseUrl: string;
  readonly chatAddress: string;
  readonly workspaceId: string;
  readonly bots: readonly (EmulatorBot & { readonly files: number; readonly bytes: number })[];
  readonly bot: EmulatorBot;
  readonly files: PageSlice<SizedFile>;
  readonly conversations: PageSlice<ConversationResource>;
  readonly conversation: {
    readonly resource: ConversationResource;
    readonly messages: PageSlice<MessageResource>;
  } | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** What an address of the page chooses; a page is left out when it is the first. */
export interface PageChoice {
  readonly bot: string;
  readonly files?: number;
  readonly conversations?: number;
  readonly conversation?: string;
  readonly messages?: number;
}

/** The page as one HTML document that needs nothing else. */
export function renderPage(view: PageView): string {
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>botsync emulator – ${view.bot.name}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <header>
          <h1>botsync emulator</h1>
          <dl>
            <dt>Main address</dt>
            <dd><code>${view.baseUrl}</code></dd>
            <dt>Chat address</dt>
            <dd><code>${view.chatAddress}</code></dd>
            <dt>Workspace</dt>
            <dd><code>${view.workspaceId}</code></dd>
          </dl>
          <nav class="bots" aria-label="Bots">${view.bots.map((bot) => renderBot(bot, view.bot.id))}</nav>
        </header>
        <main>
          ${view.conversation === null ? renderOverview(view) : renderConversation(view, view.conversation)}
        </main>
      </body>
    </html> `;
  return document.markup;
}

function renderBot(bot: PageView['bots'][number], current: string): Html {
  const mark = bot.id === current ? html` aria-current="page"` : html``;
  const name = bot.name === bot.id ? bot.id : `${bot.name} (${bot.id})`;
  return html`<a href="${addressOf({ bot: bot.id })}" ${mark}
    >${name}<small>${count(bot.files, 'file')}, ${prettyBytes(bot.bytes)}</small></a
  >`;
}

function renderOverview({ bot, files, conversations, now }: PageView): Html {
  const toFiles = (page: number): PageChoice => ({
    bot: bot.id,
    files: page,
    conversations: conversations.page,
  });
  const toConversations = (page: number): PageChoice => ({
    bot: bot.id,
    files: files.page,
    conversations: page,
  });
  return html`<h2>
      Files <small>${group(files.total)}</small>
      <small><a href="#conversations">${count(conversations.total, 'conversation')} below</a></small>
    </h2>
    ${renderTable(
      ['Key', 'Status', 'Size', 'Expires', 'Tags'],
      files.items.map((file) => renderFile(file, now)),
      'No files yet.',
    )}
    ${renderPages(files, toFiles)}
    <h2 id="conversations">Conversations <small>${group(conversations.total)}</small></h2>
    ${renderTable(
      ['Conversation', 'Channel', 'Messages', 'Latest', 'Tags'],
      conversations.items.map((conversation) => renderConversationRow(conversation, bot.id)),
      'No conversations yet.',
    )}
    ${renderPages(conversations, toConversations)}`;
}

function renderTable(columns: readonly string[], rows: readonly Html[], empty: string): Html {
  if (rows.length === 0) return html`<div class="card"><p class="empty">${empty}</p></div>`;
  const heads = columns.map((column) =>
    NUMBER_COLUMNS.has(column) ? html`<th class="number">${column}</th>` : html`<th>${column}</th>`,
  );
  return html`<div class="card">
    <table>
      <thead>
        <tr>
          ${heads}
        </tr>
      </thead>
      <tbody>
        ${rows}
      </tbody>
    </table>
  </div>`;
}

const NUMBER_COLUMNS = new Set(['Size', 'Messages']);

function renderFile(file: SizedFile, now: number): Html {
  // Before its content has come, and when it was refused, there is nothing to look at.
  const key =
    file.status === 'upload_pending' || file.status === 'upload_failed'
      ? html`${file.key}`
      : html`<a href="${file.url}">${file.key}</a>`;
  const reason =
    file.failedStatusReason === undefined
      ? html``
      : html`<span class="reason">${file.failedStatusReason}</span>`;
  const owner = file.owner.type === 'bot' ? html`` : html` <span class="soft">of ${file.owner.id}</span>`;
  return html`<tr>
    <td class="key">${key}${owner}</td>
    <td>
      <span class="status ${STATUS_CLASSES[file.status]}">${file.status.replaceAll('_', ' ')}</span>${reason}
    </td>
    <td class="number" title="${count(file.size, 'byte')}">${prettyBytes(file.size)}</td>
    <td class="when">${renderExpiry(file, now)}</td>
    <td class="tags">${renderTags(file.tags)}</td>
  </tr> `;
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

function renderExpiry({ expiresAt }: SizedFile, now: number): Html {
  if (expiresAt === undefined) return html`<span class="soft">never</span>`;
  const left = ms(Date.parse(expiresAt) - now, { long: true });
  return html`<time datetime="${expiresAt}" title="${expiresAt}">in ${left}</time>`;
}

function renderTags(tags: Readonly<Record<string, string>>): Html {
  return html`${Object.entries(tags).map(([tag, value]) => html`<span class="tag">${tag}: ${value}</span>`)}`;
}

function renderConversationRow(conversation: ConversationResource, bot: string): Html {
  const { id, channel, integration, messageCount, updatedAt, tags } = conversation;
  return html`<tr>
    <td class="key"><a href="${addressOf({ bot, conversation: id })}">${id}</a></td>
    <td>${channel} <span class="soft">${integration}</span></td>
    <td class="number">${group(messageCount)}</td>
    <td class="when">${renderTime(updatedAt)}</td>
    <td class="tags">${renderTags(tags)}</td>
  </tr> `;
}

function renderConversation(
  view: PageView,
  { resource, messages }: NonNullable<PageView['conversation']>,
): Html {
  const bot = view.bot.id;
  const list =
    messages.items.length === 0
      ? html`<p class="empty">No messages yet.</p>`
      : html`<ol class="messages">
          ${messages.items.map(renderMessage)}
        </ol>`;
  return html`<h2>
      Conversation <code>${resource.id}</code>
      <small>${resource.channel}, ${resource.integration}, ${count(messages.total, 'message')}</small>
    </h2>
    <p>${renderTags(resource.tags)} <a href="${addressOf({ bot })}">Back to the bot</a></p>
    <div class="card">${list}</div>
    ${renderPages(messages, (page) => ({ bot, conversation: resource.id, messages: page }))}`;
}

function renderMessage({ id, createdAt, userId, payload }: MessageResource): Html {
  const text = payload.type === 'text' ? payload['text'] : null;
  return html`<li id="${id}">
    <span class="soft">${renderTime(createdAt)} · ${userId} · ${payload.type}</span>
    <pre>${typeof text === 'string' ? text : JSON.stringify(payload, null, 2)}</pre>
  </li> `;
}

function renderPages({ page, pages }: PageSlice<unknown>, choice: (page: number) => PageChoice): Html {
  if (pages <= 1) return html``;
  const link = (to: number, text: string): Html =>
    to < 1 || to > pages || to === page
      ? html`<span class="soft">${text}</span>`
      : html`<a href="${addressOf(choice(to))}">${text}</a>`;
  return html`<nav class="pages" aria-label="Pages">
    ${link(1, 'First')}${link(page - 1, 'Previous')}<span>Page ${page} of ${pages}</span
    >${link(page + 1, 'Next')}${link(pages, 'Last')}
  </nav>`;
}

function addressOf({ bot, files = 1, conversations = 1, conversation, messages = 1 }: PageChoice): string {
  const query = new URLSearchParams({ bot });
  if (conversation !== undefined) query.set('conversation', conversation);
  for (const [name, page] of Object.entries({ files, conversations, messages })) {
    if (page !== 1) query.set(name, String(page));
  }
  return `/?${query.toString()}`;
}

function renderTime(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 19).replace('T', ' ')}</time>`;
}

function count(number: number, noun: string): string {
  return `${group(number)} ${noun}${number === 1 ? '' : 's'}`;
}

function group(number: number): string {
  return number.toLocaleString('en-US');
}
