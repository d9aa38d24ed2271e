import * as z from 'zod';
import { text, secret } from './schema-fields.ts';
import { readWebhookId, readHeaderText, readUrl, readId, readBotId } from './values.ts';

const chat = z.strictObject({
  webhookId: text(readWebhookId, {
    description: "The last part of the address of the bot's chat webhook.",
    examples: ['0d3c1f6e-6a0c-4f0e-9a3f-1d2e3c4b5a69'],
  }),
  userKey: secret({
    description: 'Where the key of the chat user is stored (never the key itself).',
    examples: ['env:BOTSYNC_USER_KEY', 'file:/etc/botsync/user-key', 'credential:user-key'],
  }),
});
const identity = z.strictObject({
  integrationId: text(readHeaderText, {
    description: 'Sent as x-integration-id.',
    examples: ['int_01'],
  }).exactOptional(),
  integrationAlias: text(readHeaderText, {
    description: 'Sent as x-integration-alias.',
    examples: ['docs'],
  }).exactOptional(),
  integrationName: text(readHeaderText, {
    description: 'Sent as x-integration-name.',
    examples: ['acme/docs'],
  }).exactOptional(),
  userId: text(readHeaderText, { description: 'Sent as x-user-id.', examples: ['user_01'] }).exactOptional(),
  userRole: text(readHeaderText, {
    description: 'Sent as x-user-role.',
    examples: ['admin'],
  }).exactOptional(),
});

export const platformSchema = z.strictObject({
  baseUrl: text(readUrl, {
    description: 'Address of the platform, without "/v1".',
    examples: ['https://api.botpress.cloud'],
  }).prefault('https://api.botpress.cloud'),
  chatUrl: text(readUrl, {
    description: 'Address of the chat interface, without the webhook id.',
    examples: ['https://chat.botpress.cloud'],
  }).prefault('https://chat.botpress.cloud'),
  workspaceId: text(readId, {
    description: 'The workspace; used by the commands bots, integration and doctor, and by --usage.',
    examples: ['wkspace_01JABCDEFGH'],
  }).exactOptional(),
  botId: text(readBotId, {
    description: 'The bot for all sources that have no botId of their own.',
    examples: ['8f2b6c1e-4d55-4c9e-8a5e-0c7d5b1f2a33'],
  }).exactOptional(),
  token: secret({
    description:
      'Where the access token is stored (never the token itself): "env:NAME", "file:PATH" or "credential:NAME".',
    examples: ['env:BOTSYNC_TOKEN', 'file:/etc/botsync/token', 'credential:token'],
  }).exactOptional(),
  chat: chat
    .meta({ description: 'Access to the chat, for notify and the command message send.' })
    .exactOptional(),
  operations: z
    .enum(['auto', 'specified'])
    .meta({
      description:
        '"auto": operations beyond the five specified ones are used if the platform serves them; "specified": never.',
    })
    .prefault('auto'),
  mark: z
    .boolean()
    .meta({
      description:
        'Whether each file gets a mark in its metadata, under "botsync". With it, botsync recognises its files after the state file was lost, without sending them again.',
    })
    .default(true),
  identity: identity
    .meta({
      description:
        'Identity headers: the owner of the files on the platform. Each identity has its own files.',
    })
    .prefault({}),
});
