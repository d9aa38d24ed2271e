import { refuse, succeed, type OperationResult } from '../answer.ts';
import { findNamedFile, findUsableFileById } from '../file-access.ts';
import type { Operation } from '../operation.ts';
import { cutPage, describeMeta, readPageRequest } from '../paging.ts';
import { describePassageMeta, readPassages } from '../passages.ts';

/**
 * GET /v1/files/{id}/passages: what was extracted from a file, page by page; nothing before it is indexed.
 * Source: platform-operations.md, Passages of a file.
 */
export const listPassages: Operation = {
  name: 'list-passages',
  method: 'GET',
  pattern: '/v1/files/:file/passages',
  surface: 'api',

  identify(request, platform) {
    return { key: findNamedFile(request, platform)?.key ?? null };
  },

  answer(request, platform): OperationResult {
    const query = new URLSearchParams(request.query);
    const asked = readPageRequest(query, platform.settings.pageSize);
    if (asked.kind === 'refused') return asked.answer;
    const limit = query.get('limit');
    if (limit !== null && !/^[1-9]\d{0,8}$/.test(limit)) {
      return refuse(400, 'InvalidQuery', 'limit: must be a number from 1');
    }
    const found = findUsableFileById(request, platform, 'read');
    if (found.kind === 'refused') return found.answer;
    const { id } = found.file;
    const passages = readPassages(found.file, platform).slice(0, limit === null ? Infinity : Number(limit));
    const rest = passages.slice(asked.after === null ? 0 : Number(asked.after) + 1);
    const page = cutPage(rest, asked.size, ({ position }) => String(position));
    return succeed({
      passages: page.items.map((passage) => ({
        id: `${id}_${passage.position}`,
        content: passage.content,
        meta: describePassageMeta(passage),
      })),
      meta: describeMeta(page),
    });
  },
};
