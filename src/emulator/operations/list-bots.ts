import { refuse, succeed, type OperationResult } from '../answer.ts';
import type { StoredBot } from '../bot-table.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { cutPage, describeMeta, readPageRequest } from '../paging.ts';

/** GET /v1/admin/bots: the bots of the workspace, page by page. Source: interface.md, List bots. */
export const listBots: Operation = {
  name: 'list-bots',
  method: 'GET',
  pattern: '/v1/admin/bots',
  surface: 'admin',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const query = new URLSearchParams(request.query);
    const asked = readPageRequest(query, platform.settings.pageSize, /./);
    if (asked.kind === 'refused') return asked.answer;
    const bots = platform.bots.list();
    const last = bots.findIndex(({ id }) => id === asked.after);
    if (asked.after !== null && last === -1) {
      return refuse(400, 'InvalidQuery', 'nextToken: was not issued by this list');
    }
    const page = cutPage(bots.slice(last + 1), asked.size, ({ id }) => id);
    return succeed({ bots: page.items.map(describeBot), meta: describeMeta(page) });
  },
};

function describeBot({ id, name, createdAt, updatedAt }: StoredBot): object {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
    name,
    deployedAt: new Date(updatedAt).toISOString(),
  };
}
