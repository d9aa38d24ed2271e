import {
  knownSize,
  statusOf,
  type FileStatus,
  type AccessPolicy,
  type FileOwner,
  type StoredFile,
} from './stored-file.ts';
import type { Platform } from './platform.ts';
import { signAddress } from './signed-address.ts';

/** The lifetime of the signed address of content. */
const CONTENT_LIFETIME_MS = 3_600_000;

/** The File resource as it is sent; optional fields are omitted without a value. Source: interface.md, File. */
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
  /** Only of an indexed file. */
  readonly indexingStack?: string;
  readonly failedStatusReason?: string;
  readonly expiresAt?: string;
  /** Only in the answer to an upsert. */
  readonly uploadUrl?: string;
}

/** A File resource with the size of the upsert, even before the content has arrived. */
export interface SizedFile extends FileResource {
  readonly size: number;
}

export function describeSized(file: StoredFile, platform: Platform): SizedFile {
  return { ...describeFile(file, platform), size: file.sizeBytes };
}

/** Returns the File resource of this moment; its status depends on the clock alone. */
export function describeFile(file: StoredFile, platform: Platform): FileResource {
  const { id, botId, key, contentType, tags, metadata, accessPolicies, owner } = file;
  const { status, failedStatusReason } = statusOf(file, platform.conditions, platform.now());
  return {
    ...{ id, botId, key, url: contentUrl(file, platform), size: knownSize(file, platform.now()) },
    ...{ contentType, tags, metadata },
    createdAt: formatTime(file.createdAt),
    updatedAt: formatTime(file.updatedAt),
    ...{ accessPolicies, index: file.indexed, status, owner },
    ...(status === 'indexing_completed' && { indexingStack: file.indexingStack }),
    ...(failedStatusReason !== undefined && { failedStatusReason }),
    ...(file.expiresAt !== null && { expiresAt: formatTime(file.expiresAt) }),
  };
}

/** Returns the address for the content of a file's latest upsert. Source: platform-facts.md, The upload. */
export function uploadUrl(file: StoredFile, platform: Platform, at = platform.now()): string {
  const lifetimeMs = platform.settings.uploadUrlLifetimeMs;
  const headers = uploadHeaders(file);
  const signed = UPLOAD_HEADERS.map((name) => headers[name]);
  return signAddress({ path: `/upload/${file.uploadId}`, at, lifetimeMs, signed }, platform);
}

/** The headers that are signed with the address of an upload. */
export const UPLOAD_HEADERS = ['content-type', 'content-length', 'x-amz-tagging'] as const;

/** The required values of the signed headers; '' if the header must be absent. */
export function uploadHeaders({
  sizeBytes,
  contentType,
  publicImmediately,
}: StoredFile): Readonly<Record<(typeof UPLOAD_HEADERS)[number], string>> {
  return {
    'content-type': contentType,
    'content-length': String(sizeBytes),
    // Source: interface.md, Create or update a file.
    'x-amz-tagging': publicImmediately ? 'public=true' : '',
  };
}

/** Returns an upload address as it would be if it had been issued earlier; an unknown one unchanged. */
export function backdatedUploadUrl(address: string, byMs: number, platform: Platform): string {
  const file = platform.files.findByUploadId(new URL(address).pathname.slice('/upload/'.length));
  return file === null ? address : uploadUrl(file, platform, platform.now() - byMs);
}

function contentUrl({ id, accessPolicies }: StoredFile, platform: Platform): string {
  const path = `/content/${id}`;
  return accessPolicies.includes('public_content')
    ? platform.baseUrl + path
    : signAddress({ path, at: platform.now(), lifetimeMs: CONTENT_LIFETIME_MS, signed: [] }, platform);
}

function formatTime(epochMs: number): string {
  return new Date(epochMs).toISOString();
}
