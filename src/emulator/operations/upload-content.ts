import { refuseAtStore, type OperationResult } from '../answer.ts';
import { beginLife } from '../file-life.ts';
import type { Operation } from '../operation.ts';
import type { Platform } from '../platform.ts';
import { hasExpired, isSameSecret, PUBLIC_TAGGING, signUpload } from '../presign.ts';
import { findExceededLimit } from '../quotas.ts';
import type { EmulatorRequest } from '../request.ts';
import type { StoredFile } from '../stored-file.ts';

/** Headers of the API that an object store refuses. Source: platform-facts.md, The upload. */
const FORBIDDEN_HEADERS = [
  'authorization',
  'x-bot-id',
  'x-integration-id',
  'x-integration-alias',
  'x-integration-name',
  'x-user-id',
  'x-user-role',
  'x-user-key',
  'x-workspace-id',
  'x-multiple-integrations',
];

/**
 * PUT to an uploadUrl: stores the content of the upsert that handed the address out, and of no other.
 * Answers as an S3-like object store. Source: platform-facts.md, The upload.
 */
export const uploadContent: Operation = {
  name: 'upload',
  method: 'PUT',
  pattern: '/upload/:uploadId',
  surface: 'store',

  identify(request, platform) {
    return { key: findFile(request, platform)?.key ?? null };
  },

  async answer(request, platform): Promise<OperationResult> {
    const refusal = checkRequest(request, platform);
    if (refusal !== null) return refusal;
    const file = findFile(request, platform);
    if (file === null) return noSuchUpload();
    const received = await platform.content.receive(request.message, file.sizeBytes);
    // Nobody is left to read this answer.
    if (received.kind === 'cut') return refuseAtStore(400, 'IncompleteBody', 'The connection was cut');
    platform.expire();
    // While the bytes came in, a newer upsert may have taken the key, or the file may have expired.
    const current = findFile(request, platform);
    if (current === null) {
      platform.content.discard(received.temporaryPath);
      return noSuchUpload();
    }
    const now = platform.now();
    const exceeded = findExceededLimit(current, platform);
    const life = beginLife(current, exceeded, platform.settings, platform.conditions, now);
    if (life.uploadFailure === null) platform.content.keep(received.temporaryPath, current.uploadId);
    else dropContent(received.temporaryPath, current, platform);
    platform.files.put({ ...current, uploadedAt: now, updatedAt: now, life }, current);
    return { kind: 'text', status: 200, body: '', headers: { ETag: `"${file.uploadId}"` } };
  },
};

function findFile(request: EmulatorRequest, platform: Platform): StoredFile | null {
  return platform.files.findByUploadId(request.params['uploadId'] ?? '');
}

/** What the platform refuses is gone, with what was there of an earlier upload to the same address. */
function dropContent(temporaryPath: string, file: StoredFile, platform: Platform): void {
  platform.content.discard(temporaryPath);
  platform.content.remove(file.uploadId);
}

function noSuchUpload(): OperationResult {
  const message = 'The upload does not exist: the file was upserted again, has expired or never existed';
  return refuseAtStore(404, 'NoSuchUpload', message);
}

function checkRequest(request: EmulatorRequest, platform: Platform): OperationResult | null {
  const contentLength = request.header('content-length');
  if (contentLength === null) {
    const message =
      'A header you provided implies functionality that is not implemented: send Content-Length';
    return refuseAtStore(501, 'NotImplemented', message);
  }
  const forbidden = FORBIDDEN_HEADERS.find((name) => request.headers[name] !== undefined);
  if (forbidden !== undefined) {
    return refuseAtStore(400, 'InvalidArgument', `The header ${forbidden} must not be sent to this address`);
  }
  const query = new URLSearchParams(request.query);
  const date = query.get('X-Amz-Date') ?? '';
  const expiresSeconds = query.get('X-Amz-Expires') ?? '';
  const expected = signUpload(platform.identity.signingSecret, {
    path: request.path,
    date,
    expiresSeconds,
    contentType: request.header('content-type') ?? '',
    contentLength,
    tagging: request.header('x-amz-tagging') ?? '',
  });
  if (!isSameSecret(expected, query.get('X-Amz-Signature') ?? '')) {
    return refuseAtStore(403, 'SignatureDoesNotMatch', explainMismatch(request, platform));
  }
  if (hasExpired({ path: request.path, date, expiresSeconds }, platform.now())) {
    return refuseAtStore(403, 'AccessDenied', 'Request has expired');
  }
  return null;
}

/** Says which header differs from what was signed, where the file is still known; the store itself does not know. */
function explainMismatch(request: EmulatorRequest, platform: Platform): string {
  const general = 'The request signature we calculated does not match the signature you provided';
  const file = findFile(request, platform);
  if (file === null) return general;
  const expected: Record<string, string | null> = {
    'content-length': String(file.sizeBytes),
    'content-type': file.details.contentType,
    'x-amz-tagging': file.details.publicImmediately ? PUBLIC_TAGGING : null,
  };
  const differences = Object.entries(expected)
    .filter(([name, value]) => request.header(name) !== value)
    .map(([name, value]) => `${name} must be ${value ?? 'absent'}, not ${request.header(name) ?? 'absent'}`);
  return [general, ...differences].join('; ');
}
