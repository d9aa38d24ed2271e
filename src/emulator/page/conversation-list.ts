import { html, type Html } from '../../web/html.ts';
import { relativeTime } from '../../web/relative-time.ts';
import { visibleName } from '../../web/visible-name.ts';
import type { ConversationResource, MessageResource } from '../chat-resources.ts';
import { group, renderTable, renderTags, type Column } from './elements.ts';
import { addressOf } from './page-view.ts';

const COLUMNS: readonly Column[] = [
  { label: 'Conversation', kind: 'name' },
  { label: 'Channel', kind: 'text' },
  { label: 'Messages', kind: 'number' },
  { label: 'Latest', kind: 'text' },
  { label: 'Tags', kind: 'text' },
];

/** The conversations of a bot. */
export function renderConversations(
  conversations: readonly ConversationResource[],
  bot: string,
  now: number,
): Html {
  const rows = conversations.map(({ id, channel, integration, messageCount, updatedAt, tags }) => ({
    key: id,
    cells: [
      html`<a href="${addressOf({ bot, conversation: id })}">${id}</a>`,
      html`${visibleName(channel)} <span class="soft">${integration}</span>`,
      html`${group(messageCount)}`,
      relativeTime('ago', Date.parse(updatedAt), now),
      renderTags(tags),
    ],
  }));
  return renderTable('Conversations', COLUMNS, rows, 'No conversations yet.');
}

/** What was said in a conversation. */
export function renderMessages(messages: readonly MessageResource[], now: number): Html {
  if (messages.length === 0) return html`<p class="empty">No messages yet.</p>`;
  return html`<ol class="messages">
    ${messages.map((message) => renderMessage(message, now))}
  </ol>`;
}

function renderMessage({ id, createdAt, userId, payload }: MessageResource, now: number): Html {
  const text = payload.type === 'text' ? payload['text'] : null;
  return html`<li id="${id}">
    <span class="soft">${relativeTime('ago', Date.parse(createdAt), now)} · ${userId} · ${payload.type}</span>
    <pre dir="auto">${typeof text === 'string' ? text : JSON.stringify(payload, null, 2)}</pre>
  </li> `;
}
