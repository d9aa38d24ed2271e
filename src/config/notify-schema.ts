import * as z from 'zod';
import { TOPICS } from '../domain/notice.ts';
import { DURATION_PATTERN, readDuration } from './duration.ts';
import type { Reading } from './problem.ts';
import { duration, oneOrMore, secret, text } from './schema-fields.ts';
import {
  readChannel,
  readId,
  readIntegrationPart,
  readPattern,
  readSummaryInterval,
  readTagValue,
} from './values.ts';

const integration = z.strictObject({
  name: text(readIntegrationPart, {
    description: 'Its name in the hub.',
    examples: ['webchat'],
  }),
  version: text(readIntegrationPart, {
    description: 'A version, a range, or "latest".',
    examples: ['latest', '^1.0.0'],
  }).prefault('latest'),
});

const conversation = z.strictObject({
  channel: text(readChannel, { description: 'The channel of the conversation.', examples: ['channel'] }),
  tags: z
    .record(z.string(), text(readTagValue, { description: 'A text of at most 1,000 characters.' }))
    .meta({ description: 'Tags of the conversation by name.', examples: [{ topic: 'botsync' }] })
    .prefault({}),
  integration: integration
    .meta({
      description:
        'The integration of the hub as which the conversation is created; it must have the channel.',
    })
    .exactOptional(),
});

const announcement = z.strictObject({
  match: oneOrMore(
    text(readPattern, { description: 'A pattern.' }),
    'is empty, so nothing would be announced; write a pattern',
    { description: 'Patterns, as in rules.', examples: ['announcements/**/*.mp3'] },
  ),
});

export const notifySchema = z.strictObject({
  conversationId: text(readId, {
    description: 'The conversation for notifications. The user of platform.chat must be a participant.',
    examples: ['conv_01JABCDEFGH'],
  }).exactOptional(),
  conversation: conversation
    .meta({
      description: 'Instead of conversationId: botsync creates a conversation once, and remembers it.',
    })
    .exactOptional(),
  webhook: secret(
    {
      description:
        'Instead of a conversation: the address to which notifications are posted as JSON, in an environment variable ("env:NAME"), a file ("file:PATH") or a systemd credential ("credential:NAME").',
      examples: ['env:BOTSYNC_NOTIFY_WEBHOOK', 'file:/etc/botsync/webhook'],
    },
    'BOTSYNC_NOTIFY_WEBHOOK',
  ).exactOptional(),
  on: z
    .array(z.enum(TOPICS))
    .meta({ description: 'The events to notify about.' })
    .default([...TOPICS]),
  quiet: duration({
    description:
      'If a problem comes back or grows, the next message about it is sent no sooner than this after the last one.',
  }).prefault('15m'),
  summaryEvery: text(readInterval, {
    description: 'How often a summary is sent.',
    pattern: DURATION_PATTERN,
  }).prefault('24h'),
  announce: z
    .array(announcement.meta({ description: 'Files to announce.' }))
    .meta({
      description:
        'Audio files that are announced in the conversation once they are on the platform. They need "public_content".',
      examples: [[{ match: 'announcements/**/*.mp3' }]],
    })
    .prefault([]),
});

function readInterval(written: string): Reading<number> {
  const reading = readDuration(written);
  return reading.kind === 'ok' ? readSummaryInterval(reading.value) : reading;
}
