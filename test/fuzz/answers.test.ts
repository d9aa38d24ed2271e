import fc from 'fast-check';
import { afterAll, beforeAll, expect } from 'vitest';
import { describe as describeValue, describeResource, maskSecrets } from '../../src/cli/render/resource.ts';
import { platformError } from '../../src/run/sync-error.ts';
import { renderTable } from '../../src/cli/render/text-layout.ts';
import { describeUsage } from '../../src/words/usage.ts';
import { removalExpiry } from '../../src/domain/expiry.ts';
import type { LookupFailure, OptionalFailure, Outcome } from '../../src/domain/failure.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { PlatformAdministration } from '../../src/platform/administration.ts';
import { PlatformCatalog } from '../../src/platform/catalog.ts';
import { PlatformChat, PlatformConversations } from '../../src/platform/conversations.ts';
import { PlatformFiles } from '../../src/platform/files.ts';
import type { RequestRetries } from '../../src/platform/requester.ts';
import { PlatformUsage } from '../../src/platform/usage.ts';
import { inChunks, makeClient, NEVER, SimulatedClock, START, upsertBody } from '../platform/fixture.ts';
import { expectPresentable, fuzz, wordsOf } from './edge.ts';
import { answers, type RawAnswer } from './raw-answer.ts';
import { startRawServer, type RawServer } from './raw-server.ts';

/** The token, and the user key: what a client does not know it cannot keep to itself. */
const TOKEN = 'a-token';
const SIGNATURE = 'signature-of-this-test';
const DAY_MS = 86_400_000;

let server: RawServer;
beforeAll(async () => {
  server = await startRawServer();
});
afterAll(() => server.close());

type Client = ReturnType<typeof makeClient>;

const retries: RequestRetries = {
  attempts: 2,
  giveUpAfterMs: 1_000,
  random: () => 0.5,
  onRetry: expectQuiet,
};

const FILE_NAMES = ['file', 'uploadUrl', 'contentType', 'type', 'message', 'description'];
const UPLOAD_ADDRESSES = [
  ...[
    '{origin}/u?X-Amz-Signature=signature-of-this-test',
    '{origin}',
    'http://127.0.0.1:1/?s=signature-of-this-test',
  ],
  ...wordsOf(`
    http://[::1]:1/ http://u:signature-of-this-test@127.0.0.1:1/ http://0:1/ http://127.1:1
    file:///etc/passwd
  `),
  ...wordsOf(`
    ftp://127.0.0.1/ http:// http://%00/ http://127.0.0.1:65536/ http://127.0.0.1:0/ javascript:1
    //x data:,
  `),
  '',
  ...[
    '{origin}/\u0000\r\nX-Injected: 1',
    '{origin}/%0d%0aX: 1',
    '{origin}/🙂?é#f',
    `{origin}/${'a'.repeat(20_000)}`,
    'unix:/run/s',
  ],
];
const CONTENT_TYPES = [
  'text/plain',
  'text/plain\r\nX-Injected: 1',
  '\u0000',
  'é',
  '🙂',
  ' ',
  '',
  'a'.repeat(100_000),
];

fuzz({
  name: 'upsert-and-store',
  inputs: fc.record({
    upsert: answers(FILE_NAMES, [...UPLOAD_ADDRESSES, ...CONTENT_TYPES], (value) =>
      fc.record({
        file: fc.record(
          {
            uploadUrl: fc.oneof(
              { weight: 6, arbitrary: fc.constantFrom<unknown>(...UPLOAD_ADDRESSES) },
              { weight: 1, arbitrary: value },
            ),
            contentType: fc.oneof(fc.constantFrom<unknown>(...CONTENT_TYPES), value),
            id: value,
          },
          { requiredKeys: ['uploadUrl'] },
        ),
      }),
    ),
    store: answers(['Code', 'type'], ['SlowDown'], (value) => value),
    sizeBytes: fc.constantFrom(0, 1, 70_000),
    streamed: fc.boolean(),
  }),
  check: ({ upsert, store, sizeBytes, streamed }) =>
    asked([upsert, store], async (client, clock) => {
      const files = new PlatformFiles(client.http, server.url, { token: TOKEN, identityHeaders: {} });
      const upserted = await files.upsert('bot', upsertBody('k', sizeBytes), NEVER);
      expectSane(upserted, files.now());
      if (upserted.kind === 'failed') return;
      clock.advance(DAY_MS);
      const bytes = Buffer.alloc(sizeBytes, 'x');
      const content = streamed
        ? ({ kind: 'stream', sizeBytes, chunks: inChunks(bytes, 30_000) } as const)
        : ({ kind: 'whole', bytes } as const);
      const uploaded = await files.upload(upserted.value, content, false, NEVER);
      expectSane(uploaded, files.now());
      if (uploaded.kind === 'failed') expect(uploaded.failure.kind).not.toBe('credentials');
    }),
});

fuzz({
  name: 'list-bots',
  inputs: fc.array(
    answers(['bots', 'meta', 'nextToken', 'id', 'name', 'createdAt'], ['token-1', 'token-2', ''], (value) =>
      fc.record({
        bots: fc.array(fc.record({ id: fc.oneof(fc.constant<unknown>('bot'), value), name: value }), {
          maxLength: 4,
        }),
        meta: fc.oneof(
          fc.record({ nextToken: fc.constantFrom('', 'token-1', 'token-2', '\ud800&x=') }),
          value,
        ),
      }),
    ),
    { minLength: 1, maxLength: 3 },
  ),
  check: (pages) =>
    asked(pages, async (client) => {
      const caller = { token: TOKEN, workspaceId: 'w' };
      const administration = new PlatformAdministration(client.http, server.url, caller, retries);
      const outcome = await administration.listBots(NEVER);
      expectSane(outcome, administration.now());
      if (outcome.kind === 'failed') return;
      const bots = outcome.value.map((bot) => maskSecrets(bot, [TOKEN], true) as typeof bot);
      const rows = bots.map(({ id, name, createdAt }) =>
        [id, name, createdAt].map((value) => describeValue(value)),
      );
      expectLines(renderTable(['ID', 'NAME', 'CREATED'], rows));
    }),
});

const RESOURCE_NAMES = wordsOf('id name signingSecret secrets channels payload tags type message');

function resource(name: string): fc.Arbitrary<RawAnswer> {
  return answers([name, ...RESOURCE_NAMES], ['bp_secret'], (value) =>
    fc.record({
      [name]: fc.record(
        {
          id: fc.oneof(fc.constant<unknown>('id'), value),
          name: value,
          channels: value,
          signingSecret: value,
          payload: value,
        },
        { requiredKeys: ['id'] },
      ),
    }),
  );
}

fuzz({
  name: 'get-integration',
  inputs: fc.record({
    answer: resource('integration'),
    name: fc.string({ unit: 'binary' }),
    version: fc.string(),
  }),
  check: ({ answer, name, version }) =>
    asked([answer], async (client) => {
      const caller = { token: TOKEN, workspaceId: 'w' };
      const administration = new PlatformAdministration(client.http, server.url, caller, retries);
      const outcome = await administration.getIntegration(name, version, false, NEVER);
      expectSane(outcome, administration.now());
      expectShown(outcome);
    }),
});

fuzz({
  name: 'create-conversation',
  inputs: resource('conversation'),
  check: (answer) =>
    asked([answer], async (client) => {
      const caller = { token: TOKEN, botId: 'bot', identity: {} };
      const conversations = new PlatformConversations(client.http, server.url, caller, retries);
      const outcome = await conversations.create({ channel: 'c', tags: {} }, NEVER);
      expectSane(outcome);
      expectShown(outcome);
    }),
});

fuzz({
  name: 'create-message',
  inputs: resource('message'),
  check: (answer) =>
    asked([answer], async (client) => {
      const chat = new PlatformChat(client.http, server.url, { webhookId: 'h', userKey: TOKEN }, retries);
      const outcome = await chat.send({ conversationId: 'c', payload: { type: 'text', text: 'x' } }, NEVER);
      expectSane(outcome);
      expectShown(outcome);
    }),
});

const FILE_FIELDS = [
  ...wordsOf('id key size status failedStatusReason contentType tags metadata'),
  ...wordsOf('accessPolicies index expiresAt owner url'),
];

fuzz({
  name: 'catalog',
  inputs: answers([...FILE_FIELDS, 'files', 'meta', 'nextToken'], ['..', '\ud800', 'f/1', ''], (value) => {
    const fields = Object.fromEntries(FILE_FIELDS.map((name) => [name, value]));
    const id = fc.constantFrom<unknown>('f1', '..', '\ud800', 'a/b?c', 7);
    const file = fc.record({ ...fields, id, key: fc.oneof(fc.constant<unknown>('k'), value) });
    return fc.record({ file, files: fc.array(file, { maxLength: 3 }), meta: value });
  }),
  check: (answer) =>
    asked([answer], async (client) => {
      const catalog = new PlatformCatalog(client.http, server.url, { token: TOKEN, identityHeaders: {} });
      const listed = await catalog.list('bot', { kind: 'page', token: null }, NEVER);
      expectSane(listed);
      // What the platform calls a file is what it is asked by next.
      const named = listed.kind === 'ok' ? listed.value.files.map(({ id }) => id) : [];
      for (const id of ['f1', ...named]) {
        expectSane(await catalog.list('bot', { kind: 'ids', ids: [id] }, NEVER));
        expectSane(await catalog.get('bot', id, NEVER));
        expectSane(await catalog.update('bot', id, { tags: {} }, NEVER));
        expectSane(await catalog.delete('bot', id, NEVER));
      }
    }),
});

fuzz({
  name: 'usage',
  inputs: answers(['usage', 'value', 'quota', 'type'], ['unlimited'], (value) =>
    fc.record({ usage: fc.record({ value: fc.oneof(fc.double(), value), quota: value }) }),
  ),
  check: (answer) =>
    asked([answer], async (client) => {
      const caller = { token: TOKEN, workspaceId: 'w' };
      const usage = new PlatformUsage(client.http, server.url, caller, { ...retries, attempts: 1 });
      const asked = await usage.all(NEVER);
      expectSane(asked);
      if (asked.kind === 'ok') expectLines(describeUsage(asked.value, null));
    }),
});

/** Runs a check with a client of its own: what an answer does to one must not be laid to the next. */
async function asked(
  given: readonly RawAnswer[],
  ask: (client: Client, clock: SimulatedClock) => Promise<void>,
): Promise<void> {
  server.answers = given;
  const clock = new SimulatedClock();
  const client = makeClient(server.url, { clock, token: TOKEN, stallTimeoutMs: 2_000 });
  try {
    await ask(client, clock);
    expect(client.pacer.pausedForMs).toBeLessThanOrEqual(DAY_MS);
  } finally {
    await client.http.close();
  }
}

/** No failure tells a secret, and nothing that an answer says stops the client for ever or sets its clock beyond time. */
function expectSane(outcome: Outcome<unknown, OptionalFailure>, nowMs = START): void {
  expect(new Date(removalExpiry(nowMs)).toISOString()).toMatch(/^2/u);
  if (outcome.kind === 'ok') return;
  const { failure } = outcome;
  expectQuiet(failure.message);
  expectPresentable(platformError('it could not be done', failure, 'reads').message);
  if (failure.kind === 'transient') expect(failure.retryAfterMs ?? 0).toBeLessThanOrEqual(DAY_MS);
}

function expectQuiet(message: string): void {
  expect(message).not.toBe('');
  for (const secret of [TOKEN, SIGNATURE]) expect(message).not.toContain(secret);
}

function expectShown(outcome: Outcome<JsonObject, LookupFailure>): void {
  if (outcome.kind === 'failed') return;
  const masked = maskSecrets(outcome.value, [TOKEN], true) as JsonObject;
  expectLines(describeResource(masked, ['id', 'name'], ['payload']));
}

/** Lines that can go to a terminal. */
function expectLines(lines: readonly string[]): void {
  for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/u);
}
