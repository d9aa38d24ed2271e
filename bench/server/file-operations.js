// The operations on files beyond the upsert, over what the server keeps: list, get, update, delete.
import { SORT_FIELDS } from './kept-files.js';

const PAGE_SIZE_MAX = 100;
const IDS_MAX = 50;
const LIST_PARAMETERS = new Set(['pageSize', 'nextToken', 'sortField', 'sortDirection', 'ids', 'ids[]']);
const UPDATE_FIELDS = new Set(['tags', 'metadata', 'accessPolicies', 'expiresAt']);

/** Which operation a request asks for: `{ name, file }`, `file` as the path names it; "other" is none of ours. */
export function readOperation(method, url) {
  const [path, query = ''] = url.split('?');
  if (path === '/v1/files') {
    if (method === 'PUT') return { name: 'upsert' };
    if (method === 'GET')
      return { name: /(?:^|&)ids(?:%5B%5D|\[\])?=/iu.test(query) ? 'list-ids' : 'list', query };
  }
  const file = /^\/v1\/files\/([^/]+)$/u.exec(path)?.[1];
  const name = { GET: 'get', PUT: 'update', DELETE: 'delete' }[method];
  // A path of its own, which is no key.
  if (file === undefined || name === undefined || file === 'search') return { name: 'other' };
  return { name, file: decodeURIComponent(file) };
}

/**
 * Carries out one of these operations: `{ status, body }`.
 *
 * @param kept - `null`: the platform has no such operations.
 * @param text - the body of the request.
 * @param server - `{ now, atMs, address }`: the wall clock, the monotonic clock, the base URL.
 */
export function answerOperation(operation, text, kept, server) {
  if (kept === null || operation.name === 'other') return refusal(404, 'MethodNotFound', 'no such operation');
  if (operation.name === 'list' || operation.name === 'list-ids') return list(operation.query, kept, server);
  const named = kept.findById(operation.file);
  const file = operation.name === 'update' ? named : (named ?? kept.findByKey(operation.file));
  if (file === undefined) return refusal(404, 'ResourceNotFound', 'no such file');
  switch (operation.name) {
    case 'get':
      return { status: 200, body: { file: describeFile(file, server) } };
    case 'update': {
      const facts = JSON.parse(text);
      const unknown = Object.keys(facts).find((name) => !UPDATE_FIELDS.has(name));
      if (unknown !== undefined) return refusal(400, 'InvalidPayload', `${unknown}: cannot be changed here`);
      kept.update(file, facts, server.now);
      return { status: 200, body: { file: describeFile(file, server) } };
    }
    case 'delete':
      kept.delete(file);
      return { status: 200, body: {} };
  }
}

function list(query, kept, server) {
  const given = new URLSearchParams(query);
  const unknown = [...given.keys()].find((name) => !LIST_PARAMETERS.has(name));
  if (unknown !== undefined) return refusal(400, 'InvalidQuery', `${unknown}: is not served here`);
  const field = given.get('sortField') ?? 'createdAt';
  if (!SORT_FIELDS.includes(field))
    return refusal(400, 'InvalidQuery', `sortField: ${field} is not served here`);
  const ids = [...given.getAll('ids'), ...given.getAll('ids[]')];
  if (ids.length > IDS_MAX) return refusal(400, 'InvalidQuery', `ids: at most ${IDS_MAX}`);
  const token = given.get('nextToken');
  const { files, after } = kept.page({
    ids: ids.length === 0 ? null : ids,
    field,
    direction: given.get('sortDirection') ?? 'desc',
    after: token === null ? null : JSON.parse(Buffer.from(token, 'base64url').toString()),
    size: Math.min(Number(given.get('pageSize') ?? PAGE_SIZE_MAX), PAGE_SIZE_MAX),
  });
  const meta = after === null ? {} : { nextToken: Buffer.from(JSON.stringify(after)).toString('base64url') };
  return { status: 200, body: { files: files.map((file) => describeFile(file, server)), meta } };
}

/** The file as answers show it, without an upload address. Takes note that it is told to be searchable. */
export function describeFile(file, { atMs, address }) {
  const status = statusOf(file, atMs);
  const isSearchable = status === 'indexing_completed';
  if (isSearchable) file.toldSearchableAtMs ??= atMs;
  return {
    id: file.id,
    botId: 'bench',
    key: file.key,
    url: `${address}/content/${file.id}`,
    size: file.completeAtMs === null ? null : file.size,
    contentType: file.contentType,
    tags: file.tags,
    metadata: file.metadata,
    createdAt: new Date(file.createdAt).toISOString(),
    updatedAt: new Date(file.updatedAt).toISOString(),
    accessPolicies: file.accessPolicies,
    index: file.index,
    status,
    owner: { type: 'bot', id: 'bench' },
    ...(isSearchable && { indexingStack: 'v1' }),
    ...(file.expiresAt !== null && { expiresAt: new Date(file.expiresAt).toISOString() }),
  };
}

function statusOf({ completeAtMs, searchableAtMs }, atMs) {
  if (completeAtMs === null) return 'upload_pending';
  if (searchableAtMs === null) return 'upload_completed';
  return searchableAtMs <= atMs ? 'indexing_completed' : 'indexing_pending';
}

/** An error as the official client understands it: `{ status, body }`. */
export function refusal(status, type, message) {
  return { status, body: { id: 'err_bench', code: status, type, message } };
}
