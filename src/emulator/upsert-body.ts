import mime from 'mime-types';
import * as z from 'zod';
import { refused, type Refused } from './answer.ts';
import { describeIssues } from './describe-issues.ts';
import type { AccessPolicy } from './stored-file.ts';
import { checkExpiry } from './expiry.ts';
import { extensionOf } from './file-extension.ts';
import type { Limits } from './options.ts';

/** The value of a tag. Source: platform-facts.md, Files. */
export const tagValueSchema = z.string().max(1000);

/** Who may read a file. Source: interface.md, Create or update a file. */
export const accessPoliciesSchema = z.array(z.enum(['public_content', 'integrations']));

const section = z.record(z.string(), z.unknown()).optional();

const bodySchema = z.strictObject({
  key: z.string().min(1),
  size: z.number().int().nonnegative(),
  tags: z.record(z.string(), tagValueSchema).default({}),
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
  accessPolicies: accessPoliciesSchema.default([]),
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
  const expiry = data.expiresAt === undefined ? null : checkExpiry(data.expiresAt, now);
  if (expiry?.kind === 'refused') return expiry;
  const body: UpsertBody = {
    key: data.key,
    sizeBytes: data.size,
    tags: data.tags,
    indexed: data.index,
    indexing: data.indexing ?? null,
    indexingStack: data.indexing?.configuration.stack ?? 'v1',
    accessPolicies: data.accessPolicies,
    contentType: data.contentType ?? inferContentType(data.key),
    expiresAt: expiry?.at ?? null,
    publicImmediately: data.publicContentImmediatelyAccessible,
    metadata: data.metadata,
  };
  return { kind: 'valid', body };
}

function inferContentType(key: string): string {
  return mime.types[extensionOf(key)] ?? 'application/octet-stream';
}
