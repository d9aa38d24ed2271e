import { succeed, type OperationResult } from '../answer.ts';
import { findNamedFile, findUsableFile } from '../file-access.ts';
import type { Operation } from '../operation.ts';

/** DELETE /v1/files/{id or key}: the file and its content. Source: platform-operations.md. */
export const deleteFile: Operation = {
  name: 'delete-file',
  method: 'DELETE',
  pattern: '/v1/files/:file',
  surface: 'api',

  identify(request, platform) {
    return { key: findNamedFile(request, platform)?.key ?? null };
  },

  answer(request, platform): OperationResult {
    const found = findUsableFile(request, platform, 'change');
    if (found.kind === 'refused') return found.answer;
    platform.remove(found.file);
    return succeed({});
  },
};
