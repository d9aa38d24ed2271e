import * as z from 'zod';
import { succeed, type OperationResult } from '../answer.ts';
import { checkExpiry } from '../expiry.ts';
import { findNamedFile, findUsableFileById } from '../file-access.ts';
import { indexingLife, type FileLife } from '../file-life.ts';
import { describeFile } from '../file-resource.ts';
import type { Operation } from '../operation.ts';
import type { Platform } from '../platform.ts';
import { readBody } from '../request-checks.ts';
import type { StoredFile } from '../stored-file.ts';
import { accessPoliciesSchema, tagValueSchema } from '../upsert-body.ts';

const bodySchema = z.strictObject({
  tags: z.record(z.string(), tagValueSchema.nullable()).optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  accessPolicies: accessPoliciesSchema.optional(),
  expiresAt: z.iso.datetime().nullable().optional(),
});

/**
 * PUT /v1/files/{id}: changes what is known of a file and leaves its content. Tags and metadata are merged, null takes
 * one away; `expiresAt: null` takes the expiry away. Source: platform-operations.md; the official client.
 */
export const updateFile: Operation = {
  name: 'update-file',
  method: 'PUT',
  pattern: '/v1/files/:file',
  surface: 'api',

  identify(request, platform) {
    return { key: findNamedFile(request, platform)?.key ?? null };
  },

  async answer(request, platform): Promise<OperationResult> {
    const body = await readBody(request, platform, bodySchema);
    if (body.kind === 'refused') return body.answer;
    const { tags = {}, metadata = {}, accessPolicies, expiresAt } = body.value;
    const now = platform.now();
    const expiry = expiresAt === undefined || expiresAt === null ? null : checkExpiry(expiresAt, now);
    if (expiry?.kind === 'refused') return expiry.answer;
    // Found last, so that it is as it stands when it is changed.
    const found = findUsableFileById(request, platform, 'change');
    if (found.kind === 'refused') return found.answer;
    const { file } = found;
    const changed = {
      ...file,
      life: lifeAfterUpdate(file, platform),
      updatedAt: now,
      expiresAt: expiresAt === undefined ? file.expiresAt : (expiry?.at ?? null),
      details: {
        ...file.details,
        tags: merge(file.details.tags, tags),
        metadata: merge(file.details.metadata, metadata),
        accessPolicies: accessPolicies ?? file.details.accessPolicies,
      },
    };
    platform.files.put(changed, file);
    return succeed({ file: describeFile(changed, platform) });
  },
};

/** The platform does not say whether a change of facts touches the index; here it does not, but under a condition. */
function lifeAfterUpdate(file: StoredFile, platform: Platform): FileLife | null {
  const { life } = file;
  const { settings, conditions } = platform;
  if (life === null || conditions.get('updates-reindex') === null) return life;
  const from = Math.max(life.noticedAt, platform.now());
  return { ...life, ...indexingLife(file, settings, conditions, from) };
}

function merge<T>(
  present: Readonly<Record<string, T>>,
  changes: Readonly<Record<string, T | null>>,
): Readonly<Record<string, T>> {
  const merged = Object.entries({ ...present, ...changes });
  return Object.fromEntries(merged.filter((entry): entry is [string, T & {}] => entry[1] !== null));
}
