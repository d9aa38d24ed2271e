import { knownSize } from './file-life.ts';
import { statusOf, type FileStatus } from './file-status.ts';
import type { AccessPolicy, FileOwner, StoredFile } from './stored-file.ts';
import type { Platform } from './platform.ts';
import { formatAmzDate, PUBLIC_TAGGING, signContent, signUpload } from './presign.ts';

/** The File resource as it is sent; optional fields are left out when they have no value. Source: interface.md, File. */
export interface FileResource {
  readonly id: string;
  readonly botId: string;
  readonly key: string;
  readonly url: string;
  /** Null until the upload is complete. */
  readonly size: number | null;
  readonly contentType: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly index: boolean;
  readonly status: FileStatus;
  readonly owner: FileOwner;
  /** Only of a file that was indexed. */
  readonly indexingStack?: string;
  readonly failedStatusReason?: string;
  readonly expiresAt?: string;
  /** Only in the answer to an upsert. */
  readonly uploadUrl?: string;
}

/** A File resource that tells the size before the content is there: the one that the upsert said. */
export interface SizedFile extends FileResource {
  readonly size: number;
}

/** The File resource of a stored file with its size, for people and tests. */
export function describeSized(file: StoredFile, platform: Platform): SizedFile {
  return { ...describeFile(file, platform), size: file.sizeBytes };
}

/** The File resource of a stored file at the present moment; its status follows from the clock alone. */
export function describeFile(file: StoredFile, platform: Platform): FileResource {
  const { status, failedStatusReason } = statusOf(file, platform.conditions, platform.now());
  return {
    id: file.id,
    botId: file.botId,
    key: file.key,
    url: contentUrl(file, platform),
    size: knownSize(file, platform.now()),
    contentType: file.details.contentType,
    tags: file.details.tags,
    metadata: file.details.metadata,
    createdAt: formatTime(file.createdAt),
    updatedAt: formatTime(file.updatedAt),
    accessPolicies: file.details.accessPolicies,
    index: file.indexed,
    status,
    owner: file.details.owner,
    ...(status === 'indexing_completed' && { indexingStack: file.details.indexingStack }),
    ...(failedStatusReason === null ? {} : { failedStatusReason }),
    ...(file.expiresAt === null ? {} : { expiresAt: formatTime(file.expiresAt) }),
  };
}

/** The presigned address for the content of a file's latest upsert. Source: platform-facts.md, The upload. */
export function uploadUrl(file: StoredFile, platform: Platform, signedAtMs = platform.now()): string {
  const path = `/upload/${file.uploadId}`;
  const date = formatAmzDate(signedAtMs);
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

/** An upload address as it would be had it been given out so long ago; one that is not known stays as it is. */
export function backdatedUploadUrl(address: string, byMs: number, platform: Platform): string {
  const file = platform.files.findByUploadId(new URL(address).pathname.slice('/upload/'.length));
  return file === null ? address : uploadUrl(file, platform, platform.now() - byMs);
}

function contentUrl(file: StoredFile, platform: Platform): string {
  const path = `/content/${file.id}`;
  if (file.details.accessPolicies.includes('public_content')) return `${platform.baseUrl}${path}`;
  const date = formatAmzDate(platform.now());
  const expiresSeconds = String(Math.max(1, Math.ceil(platform.settings.contentUrlLifetimeMs / 1000)));
  const signature = signContent(platform.identity.signingSecret, { path, date, expiresSeconds });
  return `${platform.baseUrl}${path}?X-Amz-Expires=${expiresSeconds}&X-Amz-Date=${date}&X-Amz-Signature=${signature}`;
}

function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
