import { succeed, type OperationResult } from '../answer.ts';
import { findNamedFile, findUsableFile } from '../file-access.ts';
import { describeFile } from '../file-resource.ts';
import type { Operation } from '../operation.ts';

/** GET /v1/files/{id or key}. Source: platform-operations.md. */
export const getFile: Operation = {
  name: 'get-file',
  method: 'GET',
  pattern: '/v1/files/:file',
  surface: 'api',

  identify(request, platform) {
    return { key: findNamedFile(request, platform)?.key ?? null };
  },

  answer(request, platform): OperationResult {
    const found = findUsableFile(request, platform, 'read');
    return found.kind === 'refused' ? found.answer : succeed({ file: describeFile(found.file, platform) });
  },
};
