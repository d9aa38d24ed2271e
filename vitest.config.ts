import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/longest-first.ts';
import { makeMemoryDirectory } from './test/memory-directory.ts';

/** The rooms of src/ whose tests start no command, and the contract with the platform. */
const ENGINE = [
  ...[
    'config',
    'conformance',
    'docs',
    'domain',
    'emulator',
    'files',
    'notify',
    'page',
    'service',
    'store',
    'sync/!(daemon|confirm)',
    'systemd',
    'words',
  ].map((room) => `test/${room}/**/*.test.ts`),
  'test/manual-clock.test.ts',
  // Lines that stand still for half a minute, and daemons that live through hours, are long.
  'test/platform/!(stall).test.ts',
  'test/run/{event-queue,stop,sync-error,transfer-tally,cluster/{carry-out-commands,hint-sender},daemon/{list-for-page,load-again,recent-answer,repetitions}}.test.ts',
  'test/cluster/{connection-reasons,database-words,hint-messages}.test.ts',
  'test/sync/daemon/!(deletions|guards|hazards|long-outages|verifications).test.ts',
];

/** Commands that are over soon: what starts them waits for nothing. */
const COMMANDS = [
  'test/security/**/*.test.ts',
  'test/browser/{live-script,emulator-page}.test.ts',
  'test/run/{cluster/own-units,daemon/daemon-platform,platform-access,take-snapshot}.test.ts',
  ...[
    'command-daemon',
    'commands',
    'completion',
    'defect',
    'describe-resource',
    'doctor',
    'doctor-notify',
    'doctor-operations',
    'emulator-options',
    'help',
    'init',
    'mask-secrets',
    'parser',
    'render/*',
    'show-page',
    'settle-directory',
    'stop-signals',
    'status/*',
    'usage',
  ].map((name) => `test/cli/${name}.test.ts`),
];

/** What measures the memory or the processor time of its own process, which is not to be anybody else's. */
const ALONE = ['test/soak/**/*.test.ts', 'test/browser/many-files.test.ts'];

/** One process for many files: what a test changes that others share, the environment among it, it puts back. */
const SHARED = { isolate: false, unstubEnvs: true };

// Thousands of state files are written through to the disk otherwise, and deleted a moment later.
const temporary = process.env['TMPDIR'] ?? makeMemoryDirectory();

// What test files make once for all of this run.
const shared = mkdtempSync(join(temporary ?? tmpdir(), 'botsync-run-'));
chmodSync(shared, 0o755);
process.once('exit', () => {
  rmSync(shared, { recursive: true, force: true });
});

/** Of every project. They do not extend this file, which Vitest would load once more for each: directories and all. */
const COMMON = {
  // Limits are reached only when a test fails: on a busy machine everything takes ten times as long. Vitest's own would be 5 s and 1 s.
  testTimeout: 120_000,
  expect: { poll: { timeout: 60_000 } },
  env: { ...(temporary !== null && { TMPDIR: temporary }), BOTSYNC_TEST_RUN: shared },
};

/**
 * `npm test` runs the first two projects; into the last falls what no other names; `npm run test:all` runs all.
 * `npx vitest run test/crash` finds a test wherever it is.
 */
export default defineConfig({
  test: {
    // Tests wait for what they start, and hosts of a cluster for leases: three times as many as cores keep these busy.
    maxWorkers: 3 * availableParallelism(),
    sequence: { shuffle: true, sequencer: LongestFirst },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
    projects: [
      { test: { ...COMMON, name: 'engine', include: ENGINE, ...SHARED } },
      { test: { ...COMMON, name: 'commands', include: COMMANDS, ...SHARED } },
      { test: { ...COMMON, name: 'long-alone', include: ALONE } },
      {
        test: {
          ...COMMON,
          name: 'long',
          include: ['test/**/*.test.ts'],
          exclude: [...ENGINE, ...COMMANDS, ...ALONE],
          ...SHARED,
        },
      },
    ],
  },
});
