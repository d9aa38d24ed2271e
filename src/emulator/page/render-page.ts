import prettyBytes from 'pretty-bytes';
import { html, type Html } from '../../web/html.ts';
import { LIVE_SCRIPT_ELEMENT, LIVE_STATUS } from '../../web/live-script.ts';
import { STYLE_ELEMENT } from '../../web/style.ts';
import { visibleName } from '../../web/visible-name.ts';
import { renderConversations, renderMessages } from './conversation-list.ts';
import { count, group, renderFacts, renderPages, renderTags } from './elements.ts';
import { renderFileFacts } from './file-facts.ts';
import { isNarrow, renderFiles, renderFilter } from './file-list.ts';
import { addressOf, type PageChoice, type PageSubject, type PageView } from './page-view.ts';
import { renderRequests } from './request-list.ts';

/** The address of the events that keep the page up to date. */
export const EVENTS_PATH = '/events';

/** The parts of the page that change, by the ids of their elements. */
export type PageParts = ReadonlyMap<string, Html>;

/** The page as one HTML document that needs nothing else. */
export function renderPage(view: PageView): string {
  const parts = renderParts(view);
  const document = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <title>botsync emulator${view.bot === null ? '' : ` – ${view.bot.name}`}</title>
        ${STYLE_ELEMENT}
      </head>
      <body data-live="${EVENTS_PATH}" data-now="${view.now}">
        <header>
          <div class="title">
            <h1>botsync emulator</h1>
            ${LIVE_STATUS}
          </div>
          ${renderFacts([
            ['Main address', html`<code>${view.baseUrl}</code>`],
            ['Chat address', html`<code>${view.chatAddress}</code>`],
            ['Workspace', html`<code>${view.workspaceId}</code>`],
          ])}
          ${part(parts, 'bots')}
        </header>
        <main>${part(parts, 'conditions')} ${renderSubject(view, parts)}</main>
        ${LIVE_SCRIPT_ELEMENT}
      </body>
    </html> `;
  return document.markup;
}

/** The parts that change of a page. */
export function renderParts(view: PageView): PageParts {
  return new Map([
    ['bots', renderBots(view)],
    ['conditions', renderConditions(view.conditions)],
    ...renderSubjectParts(view),
  ]);
}

function part(parts: PageParts, id: string): Html {
  return parts.get(id) ?? html``;
}

function renderBots({ bots, bot: current }: PageView): Html {
  const links = bots.map((bot) => {
    const mark = bot.id === current?.id ? html` aria-current="page"` : html``;
    const name = bot.name === bot.id ? bot.id : `${bot.name} (${bot.id})`;
    return html`<a href="${addressOf({ bot: bot.id })}" data-key="${bot.id}" ${mark}
      >${visibleName(name)}<small>${count(bot.files, 'file')}, ${prettyBytes(bot.bytes)}</small></a
    >`;
  });
  return html`<nav class="bots" id="bots" aria-label="Bots">${links}</nav>`;
}

function renderConditions(conditions: readonly string[]): Html {
  const notes = conditions.map((condition) => html`<p class="note">${visibleName(condition)}</p>`);
  return html`<div id="conditions">${notes}</div>`;
}

/** What stands still around the parts. */
function renderSubject({ bot, subject }: PageView, parts: PageParts): Html {
  switch (subject.kind) {
    case 'bot':
      return html`${part(parts, 'files-heading')} ${renderFilter(subject.choice, bot?.id ?? '')}
      ${part(parts, 'files')} ${part(parts, 'requests')} ${part(parts, 'conversations')}`;
    case 'file':
      return html`${part(parts, 'file')} ${part(parts, 'requests')}`;
    case 'conversation':
      return part(parts, 'conversation');
    case 'nothing':
      return part(parts, subject.what);
  }
}

function renderSubjectParts(view: PageView): (readonly [string, Html])[] {
  const { subject, now } = view;
  const bot = view.bot?.id ?? '';
  switch (subject.kind) {
    case 'bot':
      return renderBotParts(subject, bot, now);
    case 'file': {
      const { file, details } = subject;
      return [
        [
          'file',
          html`<section id="file" aria-labelledby="file-key">
            <h2 id="file-key" class="name">${visibleName(file.key)}</h2>
            <p><a href="${addressOf({ bot })}">All files of the bot</a></p>
            <div class="card padded">${renderFileFacts(file, details, now)}</div>
          </section>`,
        ],
        [
          'requests',
          renderRequestPart(
            subject,
            (page) => ({ bot, file: file.id, requests: page }),
            now,
            'about this file',
          ),
        ],
      ];
    }
    case 'conversation':
      return [['conversation', renderConversation(subject, bot, now)]];
    case 'nothing':
      return [
        [
          subject.what,
          html`<section id="${subject.what}">
            <h2>Not found</h2>
            <p>There is no such ${subject.what}, or not any more. <a href="/">To the start</a></p>
          </section>`,
        ],
      ];
  }
}

function renderBotParts(
  { choice, files, conversations, requests }: Extract<PageSubject, { kind: 'bot' }>,
  bot: string,
  now: number,
): (readonly [string, Html])[] {
  const at = {
    bot,
    choice,
    files: files.page,
    conversations: conversations.page,
    requests: requests.page,
  };
  const found = isNarrow(choice) ? `${count(files.total, 'file')} found` : group(files.total);
  return [
    [
      'files-heading',
      html`<h2 id="files-heading">
        Files <small>${found}</small>
        <small><a href="#requests">Requests</a>, <a href="#conversations">conversations</a> below</small>
      </h2>`,
    ],
    [
      'files',
      html`<div id="files">
        ${renderFiles(files.items, bot, now, isNarrow(choice) ? 'No file is like that.' : 'No files yet.')}
        ${renderPages('Pages of files', files, (page) => ({ ...at, files: page }))}
      </div>`,
    ],
    [
      'requests',
      renderRequestPart(
        { requests },
        (page) => ({ ...at, requests: page }),
        now,
        `the latest ${group(requests.total)}, of all bots`,
      ),
    ],
    [
      'conversations',
      html`<section id="conversations" aria-labelledby="conversations-heading">
        <h2 id="conversations-heading">Conversations <small>${group(conversations.total)}</small></h2>
        ${renderConversations(conversations.items, bot, now)}
        ${renderPages('Pages of conversations', conversations, (page) => ({ ...at, conversations: page }))}
      </section>`,
    ],
  ];
}

function renderRequestPart(
  { requests }: Pick<Extract<PageSubject, { kind: 'bot' | 'file' }>, 'requests'>,
  choice: (page: number) => PageChoice,
  now: number,
  which: string,
): Html {
  return html`<section id="requests" aria-labelledby="requests-heading">
    <h2 id="requests-heading">Requests <small>${which}</small></h2>
    ${renderRequests(requests.items, now, 'No requests yet.')}
    ${renderPages('Pages of requests', requests, choice)}
  </section>`;
}

function renderConversation(
  { conversation, messages }: Extract<PageSubject, { kind: 'conversation' }>,
  bot: string,
  now: number,
): Html {
  return html`<section id="conversation" aria-labelledby="conversation-heading">
    <h2 id="conversation-heading">
      Conversation <code>${conversation.id}</code>
      <small
        >${visibleName(conversation.channel)}, ${conversation.integration},
        ${count(messages.total, 'message')}</small
      >
    </h2>
    <p>${renderTags(conversation.tags)} <a href="${addressOf({ bot })}">All conversations of the bot</a></p>
    <div class="card">${renderMessages(messages.items, now)}</div>
    ${renderPages('Pages of messages', messages, (page) => ({ bot, conversation: conversation.id, messages: page }))}
  </section>`;
}
