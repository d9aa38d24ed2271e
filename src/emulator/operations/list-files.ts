import { succeed, type OperationResult } from '../answer.ts';
import { describeFile } from '../file-resource.ts';
import { readListFilesQuery } from '../list-files-query.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { describeMeta } from '../paging.ts';
import { readBot } from '../request-checks.ts';

/** GET /v1/files: the files of a bot, filtered, sorted, page by page. Source: platform-operations.md. */
export const listFiles: Operation = {
  name: 'list-files',
  method: 'GET',
  pattern: '/v1/files',
  surface: 'api',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const caller = readBot(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const asked = readListFilesQuery(request.query, platform.settings.pageSize);
    if (asked.kind === 'refused') return asked.answer;
    platform.expire();
    const page = platform.files.list({
      ...asked.query,
      botId: caller.bot.id,
      integrationId: request.header('x-integration-id') ?? '',
    });
    return succeed({
      files: page.items.map((file) => describeFile(file, platform)),
      meta: describeMeta(page),
    });
  },
};
