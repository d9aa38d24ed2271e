import * as z from 'zod';
import { LONGEST_LIFETIME_MS } from '../domain/expiry.ts';
import { duration, jsonObject, oneOrMore, text } from './schema-fields.ts';
import { readContentType, readMoment, readName, readPattern, readTagValue } from './values.ts';

const tags = z
  .record(
    z.string(),
    text(readTagValue, {
      description: 'A text of at most 1,000 characters; null unsets the tag.',
    }).nullable(),
  )
  .superRefine((value, context) => {
    if ('' in value) context.addIssue({ code: 'custom', message: 'a tag needs a name', path: [''] });
  });

export const ruleSchema = z.strictObject({
  match: oneOrMore(
    text(readPattern, { description: 'A pattern.' }),
    'is empty, so the rule would match nothing; write a pattern, or "**" for every file',
    {
      description:
        'Patterns, matched against the path within the source, case-sensitive. A pattern without "/" matches the name at any depth.',
      examples: ['**/*.pdf', ['*.md', '*.html']],
    },
  ),
  source: oneOrMore(
    text(readName, { description: 'The name of a source.' }),
    'is empty, so the rule would apply to no source; name one, or remove the field for every source',
    {
      description: 'The source or sources to which the rule applies. Default: every source.',
      examples: ['docs'],
    },
  ).exactOptional(),
  index: z
    .boolean()
    .nullable()
    .meta({ description: 'Index the file, so that the bot can search it.' })
    .exactOptional(),
  indexing: jsonObject({
    description: 'How to index; passed on unchanged.',
    examples: [{ configuration: { parsing: {} } }],
  })
    .nullable()
    .exactOptional(),
  tags: tags
    .nullable()
    .meta({
      description: 'Tags by name; values are strings. Merged with those of earlier rules; null unsets one.',
      examples: [{ 'managed-by': 'botsync' }],
    })
    .exactOptional(),
  metadata: jsonObject({
    description: 'Metadata by name, values of any type. Merged with that of earlier rules; null unsets one.',
    examples: [{ department: 'sales', year: 2026 }],
  })
    .nullable()
    .exactOptional(),
  contentType: text(readContentType, {
    description: 'Content type. Default: from the extension.',
    examples: ['text/markdown'],
  })
    .nullable()
    .exactOptional(),
  accessPolicies: z
    .array(z.enum(['public_content', 'integrations']))
    .nullable()
    .meta({
      description:
        'Who may read the content: "public_content" is everybody, "integrations" every integration of the bot.',
      examples: [['integrations']],
    })
    .exactOptional(),
  publicContentImmediatelyAccessible: z
    .boolean()
    .nullable()
    .meta({
      description: 'The content is public at once, without waiting for processing. Needs "public_content".',
    })
    .exactOptional(),
  expiresIn: duration(
    {
      description:
        'How long the platform keeps the file after each upload, 1m to 90d. It is renewed before it expires, unless renew is false.',
      examples: ['30d'],
    },
    LONGEST_LIFETIME_MS,
  )
    .nullable()
    .exactOptional(),
  expiresAt: text(readMoment, {
    description: 'When the platform deletes the file: ISO 8601 with a zone, at most 90 days away.',
    examples: ['2026-12-31T00:00:00Z'],
    format: 'date-time',
  })
    .nullable()
    .exactOptional(),
  renew: z
    .boolean()
    .nullable()
    .meta({ description: 'Whether a file with expiresIn is renewed before it expires.' })
    .exactOptional(),
  renewBefore: duration(
    {
      description:
        'How long before its expiry a file is renewed. Default: a quarter of expiresIn, at most 2d.',
      examples: ['2d'],
    },
    // More than half of the lifetime makes no sense.
    LONGEST_LIFETIME_MS / 2,
  )
    .nullable()
    .exactOptional(),
  whenTooLargeToIndex: z
    .enum(['fail', 'upload-without-index', 'skip'])
    .nullable()
    .meta({ description: 'What to do with a file to be indexed that is larger than limits.indexBytes.' })
    .exactOptional(),
});
