import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseSync } from '@photostructure/sqlite';
import { describe, expect, test } from 'vitest';
import type { Condition } from '../../src/emulator/conditions.ts';
import { createSite, start, type Running, type Site } from './binary.ts';
import { Churn, createDice, differences, type Dice } from './churn.ts';
import { SEED } from '../seed.ts';

/** More of them by `npm run test:churn`. */
const OPERATIONS = Number(process.env['CHURN_OPERATIONS'] ?? 800);

/** Long enough for any machine: reached only when the mirror never gets there. */
const LIMIT_MS = 90_000;

/** How what was removed goes: each test in the one way by odd seeds, in the other by even ones. */
const MODES = SEED % 2 === 1 ? (['expire', 'delete'] as const) : (['delete', 'expire'] as const);

function createChurnSite(mode: (typeof MODES)[number], fields: Record<string, unknown>): Promise<Site> {
  return createSite(
    {
      removals: { mode, delay: '1s', maxCount: 1_000_000, maxFraction: 1 },
      upload: { concurrency: 8, giveUpAfter: '10s', stallTimeout: '2s' },
      ...fields,
    },
    {},
    'auto',
  );
}

const launch = (site: Site): Running => start(site.directory, ['sync', '--log-level', 'warn'], site.env);

async function untilExact(site: Site, churn: Churn): Promise<void> {
  const root = join(site.directory, 'docs');
  const giveUpMs = performance.now() + LIMIT_MS;
  let found = differences(root, site.emulator, churn);
  while (found.length > 0 && performance.now() < giveUpMs) {
    await delay(50);
    found = differences(root, site.emulator, churn);
  }
  expect(found, found.length === 0 ? '' : onRecord(site)).toEqual([]);
}

/** What the state file has on files that are not plainly in sync. */
function onRecord(site: Site): string {
  const file = join(site.directory, '.botsync/state.db');
  if (!existsSync(file)) return 'there is no state file';
  const state = new DatabaseSync(file, { readOnly: true });
  const rows = state
    .prepare(
      "SELECT path, key, state, absence, absent_since, uploaded, expires_at FROM file WHERE state <> 'synced' OR absence IS NOT NULL",
    )
    .all();
  const problems = state.prepare('SELECT * FROM problem').all();
  const sources = state.prepare('SELECT * FROM source').all();
  state.close();
  return JSON.stringify({ rows, problems, sources, now: Date.now() });
}

/** Has every file told another tag from the next start on. */
function retag(site: Site, tag: string): void {
  const file = join(site.directory, 'botsync.config.json');
  const config = JSON.parse(readFileSync(file, 'utf8')) as object;
  writeFileSync(file, JSON.stringify({ ...config, rules: [{ match: '**', tags: { tag } }] }));
}

/** The tags of the files that are there. */
function tagsOf({ emulator }: Site): unknown[] {
  const there = emulator
    .listFiles('bot-1')
    .filter(({ size, expiresAt }) => size > 0 || expiresAt === undefined);
  return [...new Set(there.map(({ tags }) => tags['tag']))];
}

async function stopped(daemon: Running): Promise<number | null> {
  daemon.child.kill('SIGTERM');
  return (await daemon.ended).code;
}

describe(`a churn of ${OPERATIONS} operations ends in an exact mirror`, { timeout: 300_000 }, () => {
  test(`by events alone (seed ${SEED})`, async () => {
    // No rescan comes to the rescue.
    const site = await createChurnSite(MODES[0], {
      watch: { settle: '50ms', maxDelay: '500ms', rescan: '10h' },
    });
    const dice = createDice(SEED);
    const churn = new Churn(join(site.directory, 'docs'), dice);
    for (let i = 0; i < 50; i++) churn.step();
    const daemon = launch(site);
    for (let i = 0; i < OPERATIONS; i++) {
      churn.step();
      if (dice.roll(4) === 0) await delay(dice.roll(15));
    }
    await untilExact(site, churn);
    expect(await stopped(daemon)).toBe(0);
  });

  test(`with kills of the daemon, faults and outages of the platform, slow stores and rate limits in between (seed ${SEED})`, async () => {
    const site = await createChurnSite(MODES[1], {
      watch: { settle: '50ms', maxDelay: '500ms', rescan: '2s' },
    });
    const dice = createDice(SEED);
    const churn = new Churn(join(site.directory, 'docs'), dice);
    let daemon = launch(site);
    let tag: string | undefined;
    for (let i = 0; i < OPERATIONS; i++) {
      churn.step();
      if (dice.roll(4) === 0) await delay(dice.roll(15));
      if (dice.roll(40) === 0) addFault(site, dice.roll(8));
      if (dice.roll(60) === 0) await setCondition(site, dice);
      if (dice.roll(250) === 0) {
        daemon.child.kill('SIGKILL');
        await daemon.ended;
        tag = String(i);
        retag(site, tag);
        daemon = launch(site);
      }
    }
    site.emulator.faults.clear();
    await site.emulator.conditions.clear();
    await untilExact(site, churn);
    await expect.poll(() => tagsOf(site), { timeout: LIMIT_MS }).toEqual([tag]);
    expect(await stopped(daemon)).toBe(0);
  });
});

/** As many conditions as times when all is well again. */
const CONDITIONS: readonly (Condition | null)[] = [
  { kind: 'refused' },
  { kind: 'unavailable' },
  { kind: 'slow-store', bytesPerSecond: 30_000 },
  { kind: 'rate-limit', rateLimit: { requests: 30, windowMs: 1000, window: 'sliding', tells: 'all' } },
  { kind: 'rate-limit', rateLimit: { requests: 10, windowMs: 1000, window: 'sliding', tells: 'nothing' } },
  { kind: 'lagging-list', lagMs: 500 },
  { kind: 'new-ids' },
  { kind: 'pending-again' },
  { kind: 'slow-notice', delayMs: 300 },
  { kind: 'updates-reindex' },
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
  null,
];

async function setCondition({ emulator }: Site, dice: Dice): Promise<void> {
  const condition = CONDITIONS[dice.roll(CONDITIONS.length)] ?? null;
  if (condition === null) await emulator.conditions.clear();
  else await emulator.conditions.set(condition);
}

function addFault({ emulator }: Site, which: number): void {
  const { faults } = emulator;
  switch (which) {
    case 0:
      faults.add({ operation: 'upsert', kind: 'status', status: 500, times: 3 });
      break;
    case 1:
      faults.add({ operation: 'upload', kind: 'status', status: 403, times: 3 });
      break;
    case 2:
      faults.add({ operation: 'upload', kind: 'cut', afterBytes: 10, times: 2 });
      break;
    case 3:
      faults.add({ operation: 'upsert', kind: 'hang', times: 1 });
      break;
    case 4:
      faults.add({ operation: 'upsert', kind: 'garbage', times: 2 });
      break;
    case 5:
      faults.add({ operation: 'list-files', kind: 'status', status: 503, times: 3 });
      break;
    case 6:
      faults.add({ operation: 'update-file', kind: 'apply-then-drop', times: 2 });
      break;
    default:
      faults.add({ operation: 'upload', kind: 'delay', delayMs: 200, times: 5 });
      break;
  }
}
