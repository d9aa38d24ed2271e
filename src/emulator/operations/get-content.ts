import { refuseAtStore, type OperationResult } from '../answer.ts';
import type { Operation } from '../operation.ts';
import { hasExpired, isSameSecret, signContent } from '../presign.ts';
import { hasContent } from '../stored-file.ts';

/**
 * GET or HEAD of the `url` of a file: plain for public_content, signed for all others.
 * Source: interface.md, File (url) and Create or update a file (accessPolicies).
 */
export const getContent: Operation = {
  name: 'content',
  method: 'GET',
  pattern: '/content/:fileId',
  surface: 'store',

  identify(request, platform) {
    return { key: platform.files.findById(request.params['fileId'] ?? '')?.key ?? null };
  },

  answer(request, platform): OperationResult {
    platform.expire();
    const file = platform.files.findById(request.params['fileId'] ?? '');
    if (file === null) return noSuchKey();
    if (!file.details.accessPolicies.includes('public_content')) {
      const query = new URLSearchParams(request.query);
      const signed = {
        path: request.path,
        date: query.get('X-Amz-Date') ?? '',
        expiresSeconds: query.get('X-Amz-Expires') ?? '',
      };
      const expected = signContent(platform.identity.signingSecret, signed);
      const given = query.get('X-Amz-Signature') ?? '';
      if (!isSameSecret(expected, given)) return refuseAtStore(403, 'AccessDenied', 'Access Denied');
      if (hasExpired(signed, platform.now())) {
        return refuseAtStore(403, 'AccessDenied', 'Request has expired');
      }
    }
    if (!hasContent(file)) return noSuchKey();
    return {
      kind: 'content',
      path: platform.content.pathOf(file.uploadId),
      headers: {
        'Content-Type': file.details.contentType,
        ETag: `"${file.uploadId}"`,
        // It shares its origin with the page at /: a file that is a web page must not read that. Browsers show no PDF so.
        ...(file.details.contentType !== 'application/pdf' && { 'Content-Security-Policy': 'sandbox' }),
      },
    };
  },
};

function noSuchKey(): OperationResult {
  return refuseAtStore(404, 'NoSuchKey', 'The specified key does not exist.');
}
