import { findNamedFile } from '../access.ts';
import { refuseAtStore, type OperationResult } from '../answer.ts';
import { UPLOAD_HEADERS, uploadHeaders } from '../file-resource.ts';
import type { Operation } from '../operation.ts';
import type { EmulatorRequest } from '../request.ts';
import { findExcess } from '../quotas.ts';
import type { Platform } from '../platform.ts';
import { checkAddress } from '../signed-address.ts';
import { beginLife, hasContent, type StoredFile } from '../stored-file.ts';

/**
 * GET or HEAD of the `url` of a file: plain for public_content, signed for all others. Source: interface.md, File
 * (url) and Create or update a file (accessPolicies).
 */
export const getContent: Operation = {
  name: 'content',
  method: 'GET',
  pattern: '/content/:file',
  surface: 'store',

  answer(request, platform): OperationResult {
    platform.expire();
    const file = platform.files.findById(request.param('file'));
    if (file !== null && !file.accessPolicies.includes('public_content')) {
      const address = checkAddress(request, [], platform);
      if (address === 'forged') refuseAtStore(403, 'AccessDenied', 'Access Denied');
      if (address === 'expired') refuseAtStore(403, 'AccessDenied', 'Request has expired');
    }
    if (file === null || !hasContent(file))
      return refuseAtStore(404, 'NoSuchKey', 'The specified key does not exist.');
    return {
      kind: 'content',
      path: platform.content.pathOf(file.uploadId),
      headers: {
        'Content-Type': file.contentType,
        ETag: `"${file.uploadId}"`,
        // Content has the same origin as the page at /: an HTML file must not read that page. Browsers show no
        // sandboxed PDF.
        ...(file.contentType !== 'application/pdf' && { 'Content-Security-Policy': 'sandbox' }),
      },
    };
  },
};

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
 * PUT to an uploadUrl: stores the content of the upsert that issued the address. Answers like S3. Source:
 * platform-facts.md, The upload.
 */
export const uploadContent: Operation = {
  name: 'upload',
  method: 'PUT',
  pattern: '/upload/:uploadId',
  surface: 'store',

  async answer(request, platform): Promise<OperationResult> {
    const { content, files, settings, conditions } = platform;
    checkRequest(request, platform);
    const { sizeBytes, uploadId } = findUpload(request, platform);
    const temporaryPath = await content.receive(request.message, sizeBytes);
    // The client is gone and does not see this answer.
    if (temporaryPath === null) return refuseAtStore(400, 'IncompleteBody', 'The connection was cut');
    let file: StoredFile;
    try {
      platform.expire();
      // In the meantime a newer upsert may have taken the key, or the file may have expired.
      file = findUpload(request, platform);
    } catch (error) {
      content.discard(temporaryPath);
      throw error;
    }
    const now = platform.now();
    const isLate = conditions.get('late-limits') !== null;
    const excess = isLate ? findExcess(file, file, platform) : null;
    const life = beginLife(file, excess?.message ?? null, settings, conditions, now);
    if (life.uploadFailure === null) {
      content.keep(temporaryPath, uploadId);
    } else {
      content.discard(temporaryPath);
      // Content of an earlier upload to the same address.
      content.remove(uploadId);
    }
    files.put({ ...file, uploadedAt: now, updatedAt: now, life }, file);
    return { kind: 'text', status: 200, body: '', headers: { ETag: `"${uploadId}"` } };
  },
};

function findUpload(request: EmulatorRequest, platform: Platform): StoredFile {
  const message = 'The upload does not exist: the file was upserted again, has expired or never existed';
  return findNamedFile(request, platform) ?? refuseAtStore(404, 'NoSuchUpload', message);
}

function checkRequest(request: EmulatorRequest, platform: Platform): void {
  if (request.header('content-length') === null) {
    const message =
      'A header you provided implies functionality that is not implemented: send Content-Length';
    refuseAtStore(501, 'NotImplemented', message);
  }
  const forbidden = FORBIDDEN_HEADERS.find((name) => request.headers[name] !== undefined);
  if (forbidden !== undefined)
    refuseAtStore(400, 'InvalidArgument', `The header ${forbidden} must not be sent to this address`);
  const given = UPLOAD_HEADERS.map((name) => request.header(name) ?? '');
  const address = checkAddress(request, given, platform);
  if (address === 'forged') refuseAtStore(403, 'SignatureDoesNotMatch', explainMismatch(request, platform));
  if (address === 'expired') refuseAtStore(403, 'AccessDenied', 'Request has expired');
}

/** Names the headers that differ from the signed ones, if the file is still known; a real store does not know that. */
function explainMismatch(request: EmulatorRequest, platform: Platform): string {
  const general = 'The request signature we calculated does not match the signature you provided';
  const file = findNamedFile(request, platform);
  if (file === null) return general;
  const expected = uploadHeaders(file);
  const differences = UPLOAD_HEADERS.filter((name) => (request.header(name) ?? '') !== expected[name]).map(
    (name) => `${name} must be ${expected[name] || 'absent'}, not ${request.header(name) ?? 'absent'}`,
  );
  return [general, ...differences].join('; ');
}
