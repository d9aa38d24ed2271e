import mime from 'mime-types';
import { z } from 'zod';
import { refused, type Refused } from './answer.ts';
import { describeIssues } from './describe-issues.ts';
import type { AccessPolicy } from './file-table.ts';
import { extensionOf } from './file-resource.ts';
import type { Limits } from './options.ts';

const MINUTE_MS = 60_000;
const LIFETIME_MAX_MS = 90 * 24 * 60 * MINUTE_MS;

const section = z.record(z.string(), z.unknown()).optional();

const bodySchema = z.strictObject({
  key: z.string().min(1),
  size: z.number().int().nonnegative(),
  tags: z.record(z.string(), z.string().max(1000)).default({}),
  index: z.boolean().default(false),
  indexing: z
    .strictObject({
      configuration: z.strictObject({
        parsing: section,
        chunking: section,
        summarization: section,
        stack: z.string().optional(),
        vision: section,
      }),
    })
    .optional(),
  accessPolicies: z.array(z.enum(['public_content', 'integrations'])).default([]),
  contentType: z
    .string()
    .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be usable as a header value')
    .optional(),
  expiresAt: z.iso.datetime().optional(),
  publicContentImmediatelyAccessible: z.boolean().default(false),
  metadata: z.record(z.string(), z.unknown()).default({}),
});

/** A valid upsert body with its defaults filled in. Source: interface.md, Create or update a file. */
export interface UpsertBody {
  readonly key: string;
  readonly sizeBytes: number;
  readonly tags: Readonly<Record<string, string>>;
  readonly indexed: boolean;
  readonly indexing: Readonly<Record<string, unknown>> | null;
  readonly indexingStack: string;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly contentType: string;
  /** Epoch ms, a whole minute. */
  readonly expiresAt: number | null;
  readonly publicImmediately: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A valid body or the refusal to answer with. */
export type ParsedUpsert = { readonly kind: 'valid'; readonly body: UpsertBody } | Refused;

/**
 * Checks an upsert body against everything that does not depend on what is stored. `now`: epoch ms.
 * Source: interface.md, Create or update a file and Limits; platform-facts.md, Files.
 */
export function parseUpsertBody(value: unknown, limits: Limits, now: number): ParsedUpsert {
  const parsed = bodySchema.safeParse(value);
  if (!parsed.success) return refused(400, 'InvalidPayload', describeIssues(parsed.error));
  const { data } = parsed;
  if (data.size > limits.fileBytes) {
    return refused(413, 'LimitExceeded', `size: a file is at most ${limits.fileBytes} bytes`);
  }
  if (data.index && data.size > limits.indexBytes) {
    return refused(
      400,
      'InvalidPayload',
      `size: files larger than ${limits.indexBytes} bytes cannot be indexed`,
    );
  }
  if (data.publicContentImmediatelyAccessible && !data.accessPolicies.includes('public_content')) {
    const message = 'publicContentImmediatelyAccessible: requires public_content in accessPolicies';
    return refused(400, 'InvalidPayload', message);
  }
  const expiresAt = data.expiresAt === undefined ? null : truncateToMinute(Date.parse(data.expiresAt));
  if (expiresAt !== null && !(expiresAt > now)) {
    const message = 'expiresAt: must be in the future (seconds and milliseconds are ignored)';
    return refused(400, 'InvalidPayload', message);
  }
  if (expiresAt !== null && expiresAt > now + LIFETIME_MAX_MS) {
    return refused(400, 'InvalidPayload', 'expiresAt: must be at most 90 days from now');
  }
  const body: UpsertBody = {
    key: data.key,
    sizeBytes: data.size,
    tags: data.tags,
    indexed: data.index,
    indexing: data.indexing ?? null,
    indexingStack: data.indexing?.configuration.stack ?? 'v1',
    accessPolicies: data.accessPolicies,
    contentType: data.contentType ?? inferContentType(data.key),
    expiresAt,
    publicImmediately: data.publicContentImmediatelyAccessible,
    metadata: data.metadata,
  };
  return { kind: 'valid', body };
}

function inferContentType(key: string): string {
  return mime.types[extensionOf(key)] ?? 'application/octet-stream';
}

function truncateToMinute(epochMs: number): number {
  return Math.floor(epochMs / MINUTE_MS) * MINUTE_MS;
}
