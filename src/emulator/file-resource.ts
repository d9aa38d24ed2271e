import { extname } from 'node:path/posix';
import type { AccessPolicy, FileOwner, StoredFile } from './file-table.ts';
import type { Platform } from './platform.ts';
import { formatAmzDate, PUBLIC_TAGGING, signContent, signUpload } from './presign.ts';

/** Where a file is on its way. Source: platform-facts.md, Files. */
export type FileStatus =
  'upload_pending' | 'upload_completed' | 'indexing_pending' | 'indexing_failed' | 'indexing_completed';

/** The File resource as it is sent; optional fields are left out when they have no value. Source: interface.md, File. */
export interface FileResource {
  readonly id: string;
  readonly botId: string;
  readonly key: string;
  readonly url: string;
  readonly size: number;
  readonly contentType: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly index: boolean;
  readonly status: FileStatus;
  readonly owner: FileOwner;
  readonly indexingStack: string;
  readonly failedStatusReason?: string;
  readonly expiresAt?: string;
  /** Only in the answer to an upsert. */
  readonly uploadUrl?: string;
}

/** The File resource of a stored file at the present moment; its status follows from the clock alone. */
export function describeFile(file: StoredFile, platform: Platform): FileResource {
  const { status, failedStatusReason } = statusOf(file, platform);
  return {
    id: file.id,
    botId: file.botId,
    key: file.key,
    url: contentUrl(file, platform),
    size: file.sizeBytes,
    contentType: file.details.contentType,
    tags: file.details.tags,
    metadata: file.details.metadata,
    createdAt: formatTime(file.createdAt),
    updatedAt: formatTime(file.updatedAt),
    accessPolicies: file.details.accessPolicies,
    index: file.indexed,
    status,
    owner: file.details.owner,
    indexingStack: file.details.indexingStack,
    ...(failedStatusReason === null ? {} : { failedStatusReason }),
    ...(file.expiresAt === null ? {} : { expiresAt: formatTime(file.expiresAt) }),
  };
}

/** The presigned address for the content of a file's latest upsert. Source: platform-facts.md, The upload. */
export function uploadUrl(file: StoredFile, platform: Platform): string {
  const path = `/upload/${file.uploadId}`;
  const date = formatAmzDate(platform.now());
  const expiresSeconds = String(Math.max(1, Math.ceil(platform.settings.uploadUrlLifetimeMs / 1000)));
  const signature = signUpload(platform.identity.signingSecret, {
    path,
    date,
    expiresSeconds,
    contentType: file.details.contentType,
    contentLength: String(file.sizeBytes),
    tagging: file.details.publicImmediately ? PUBLIC_TAGGING : '',
  });
  return `${platform.baseUrl}${path}?X-Amz-Expires=${expiresSeconds}&X-Amz-Date=${date}&X-Amz-Signature=${signature}`;
}

/** The lower-case extension of a key without its dot, '' when it has none. */
export function extensionOf(key: string): string {
  return extname(key).slice(1).toLowerCase();
}

function contentUrl(file: StoredFile, platform: Platform): string {
  const path = `/content/${file.id}`;
  if (file.details.accessPolicies.includes('public_content')) return `${platform.baseUrl}${path}`;
  return `${platform.baseUrl}${path}?X-Amz-Signature=${signContent(platform.identity.signingSecret, path)}`;
}

function statusOf(
  file: StoredFile,
  platform: Platform,
): { status: FileStatus; failedStatusReason: string | null } {
  if (file.uploadedAt === null) return { status: 'upload_pending', failedStatusReason: null };
  if (!file.indexed) return { status: 'upload_completed', failedStatusReason: null };
  if (platform.now() < file.uploadedAt + platform.settings.indexingDelayMs) {
    return { status: 'indexing_pending', failedStatusReason: null };
  }
  const extension = extensionOf(file.key);
  if (!platform.settings.limits.indexableExtensions.includes(extension)) {
    const format = extension === '' ? 'files without an extension' : `".${extension}" files`;
    return { status: 'indexing_failed', failedStatusReason: `Indexing of ${format} is not supported` };
  }
  return { status: 'indexing_completed', failedStatusReason: null };
}

function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
