import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { FileEvent } from '../../src/domain/report.ts';
import { createWorld } from '../sync/world.ts';
import { FAULTS, SLOW, STATUS_FAULTS, WIRE_FAULTS } from './faults.ts';
import { expectNoSecrets } from './secrets.ts';

/** Faults that the emulator plays for any operation. */
type Played = keyof typeof STATUS_FAULTS | Exclude<keyof typeof WIRE_FAULTS, NotPlayed>;
type NotPlayed =
  | '200 without uploadUrl'
  | 'nobody listens'
  | 'an unknown certificate authority'
  | 'a redirect to elsewhere'
  | 'an expired signature'
  | "the platform's clock a day ahead"
  | "the platform's clock a day behind";

/**
 * What becomes of a file whose deletion is struck: it is deleted all the same, let expire instead, left by mistake since the
 * platform said it was not there, or not removed after so many requests, which the next pass makes up for.
 */
type Expected = 'deleted' | 'expires' | 'believed' | 'fails after 1' | 'fails after 2';

const both = (expected: Expected): readonly [get: Expected, deletion: Expected] => [expected, expected];

const TABLE: Readonly<Record<Played, readonly [get: Expected, deletion: Expected]>> = {
  '400 InvalidPayload': both('fails after 1'),
  '400 InvalidDataFormat': both('fails after 1'),
  '400 InvalidQuery': both('fails after 1'),
  '400 ReferenceNotFound': both('fails after 1'),
  // Only an upsert decides that credentials are refused.
  '401 Unauthorized': both('expires'),
  '402 PaymentRequired': both('fails after 1'),
  '403 Forbidden': both('expires'),
  '403 QuotaExceeded': both('fails after 1'),
  '403 QuotaExceeded, in the other shape': both('fails after 1'),
  '404 ResourceNotFound': both('believed'),
  '405 MethodNotFound': both('expires'),
  '408 RequestTimeout': both('fails after 2'),
  '409 ResourceLockedConflict': both('fails after 2'),
  '409 AlreadyExists': both('fails after 1'),
  '409 RelationConflict': both('fails after 1'),
  '410 ResourceGone': both('fails after 1'),
  '413 PayloadTooLarge': both('fails after 1'),
  '413 LimitExceeded': both('fails after 1'),
  '415 UnsupportedMediaType': both('fails after 1'),
  '429 RateLimited': both('fails after 2'),
  '500 Unknown': both('fails after 2'),
  '500 Internal': both('fails after 2'),
  '502 with a page of HTML': both('fails after 2'),
  '503 Unavailable': both('fails after 2'),
  '504 OperationTimeout': both('fails after 2'),
  'no answer': both('fails after 2'),
  'half an answer': ['fails after 2', 'deleted'],
  'an answer byte by byte, without end': ['fails after 2', 'deleted'],
  'an answer in slow pieces': both('deleted'),
  'a late answer': both('deleted'),
  'dropped at once': both('fails after 2'),
  'cut within the request': both('fails after 2'),
  'cut within the answer': ['fails after 2', 'deleted'],
  'carried out, then dropped': ['fails after 2', 'deleted'],
  '200 with garbage': both('fails after 2'),
  // Nothing shows that it was not done.
  '200 with an empty object': ['fails after 2', 'believed'],
  'answered before it was read, then dropped': ['fails after 2', 'believed'],
};

const rows = (Object.keys(TABLE) as Played[]).flatMap((fault) =>
  (['get-file', 'delete-file'] as const).map((operation, place) => ({
    fault,
    operation,
    expected: TABLE[fault][place] as Expected,
  })),
);

test.each(rows)('$fault, to $operation: $expected', async ({ fault, operation, expected }) => {
  const world = await createWorld({
    removals: { mode: 'delete' },
    upload: { attempts: 2, concurrency: 1, stallTimeout: SLOW.has(fault) ? '1s' : '30s' },
  });
  const { emulator, clock } = world;
  world.configure({ platform: { botId: 'bot-1', baseUrl: emulator.baseUrl, operations: 'auto' } });
  const names = ['a.md', 'b.md', 'c.md'];
  for (const name of names) world.write(`docs/${name}`, name);
  await world.pass();
  for (const name of ['a.md', 'c.md']) rmSync(join(world.directory, 'docs', name));
  const cause = FAULTS[fault];
  if (cause.kind !== 'request') throw new Error(fault);
  emulator.faults.add({ operation, key: 'a.md', times: Infinity, ...cause.action(clock.now()) });

  const events: FileEvent[] = [];
  const told: string[] = [];
  const { summary, exitCode } = await world.pass({
    report: {
      event: (event) => events.push(event),
      warn: (message) => told.push(message),
      retrying: (path, reason) => told.push(`${path} ${reason}`),
      sent: () => undefined,
    },
  });
  const struck = emulator.requests.filter((one) => one.operation === operation && one.key === 'a.md').length;
  expectNoSecrets([JSON.stringify(events), ...told, JSON.stringify(world.status())].join('\n'), emulator);
  const file = emulator.listFiles('bot-1').find(({ key }) => key === 'a.md');
  const left = file === undefined ? 'nothing' : file.expiresAt === undefined ? 'it' : 'tombstone';
  const isFailed = expected.startsWith('fails');
  const counts = isFailed ? { removed: 1, failed: 1 } : { removed: 2, failed: 0 };
  expect({ exitCode, summary }).toMatchObject({ exitCode: isFailed ? 3 : 0, summary: counts });
  expect(left).toBe(expected === 'deleted' ? 'nothing' : expected === 'expires' ? 'tombstone' : 'it');
  if (isFailed) expect(struck).toBe(Number(expected.at(-1)));
  const isTold = expected === 'expires' && fault !== '401 Unauthorized';
  expect(told.filter((line) => line.includes('is not served'))).toHaveLength(isTold ? 1 : 0);
  // Whatever befalls one file, the others go on.
  expect(world.keys().filter((key) => key !== 'a.md')).not.toContain(expected === 'expires' ? '' : 'c.md');

  emulator.faults.clear();
  const again = await world.pass();
  expect(again).toMatchObject({ exitCode: 0, summary: { removed: isFailed ? 1 : 0, failed: 0 } });
  if (isFailed) expect(world.keys()).toEqual(['b.md']);
  expect(world.status().failures).toEqual([]);
  expect(world.remote('b.md')).toBe('b.md');
});
