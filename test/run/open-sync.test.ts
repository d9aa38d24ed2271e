import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openSync, SyncError, type SyncEvent } from '../../src/run/botsync.ts';
import { createSite } from '../cli/binary.ts';
import { openSite } from './open-site.ts';

/** The first event that is wanted. */
async function firstOf(events: AsyncIterable<SyncEvent>, isWanted: (event: SyncEvent) => boolean) {
  for await (const event of events) if (isWanted(event)) return event;
  throw new Error('the events ended');
}

const isUploadOf =
  (path: string) =>
  (event: SyncEvent): boolean =>
    event.kind === 'file' && event.file.path === path && event.file.kind === 'upload';

test('a pass tells what it does, a second one does nothing, and the process is left alone', async () => {
  const listeners = (): number[] =>
    ['SIGINT', 'SIGTERM', 'SIGHUP', 'exit', 'uncaughtException'].map((name) => process.listenerCount(name));
  const before = listeners();
  const site = await createSite({}, { recordRequests: true });
  site.write('docs/a.md', 'a');
  const sync = openSite(site);
  const events = sync.events();
  const planned: string[] = [];
  const other = openSite(site, { observer: { planned: ({ path }) => planned.push(path) } });
  expect(await other.plan()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 1 } });
  expect(planned).toEqual(['a.md']);
  expect(site.emulator.requests.length).toBe(0);
  expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 1 }, sawAll: true });
  expect(listeners()).toEqual(before);
  const requests = site.emulator.requests.length;
  expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', summary: { uploaded: 0, unchanged: 1 } });
  expect(site.emulator.requests.length).toBe(requests);
  await sync.close();
  const kinds: string[] = [];
  for await (const event of events) kinds.push(event.kind);
  expect(kinds).toEqual(['pass-began', 'sent', 'file', 'pass-ended', 'pass-began', 'pass-ended']);
  await expect(sync.pass()).rejects.toMatchObject({ code: 'usage' });
});

test('errors say where, what and what to do', async () => {
  expect(() => openSync({ config: '/nowhere.json' })).toThrow(SyncError);
  const site = await createSite();
  const bare = openSite(site, { env: {} });
  const error: unknown = await bare.pass().catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'SyncError', code: 'configuration' });
  expect((error as SyncError).place).toMatch(/botsync\.config\.json: platform\.token$/u);
  expect((error as SyncError).reason).toMatch(/BOTSYNC_TOKEN is not set/u);
});

test('a daemon sends what changes until it is stopped; the state file is its own meanwhile', async () => {
  const site = await createSite({ watch: { settle: '50ms' } });
  site.write('docs/a.md', 'a');
  const sync = openSite(site);
  const events = sync.events();
  const daemon = await sync.start();
  await firstOf(sync.events(), ({ kind }) => kind === 'pass-ended');
  await expect(openSite(site).pass()).rejects.toMatchObject({ code: 'busy', fix: 'wait for it, or stop it' });
  writeFileSync(join(site.directory, 'docs/b.md'), 'b');
  await firstOf(events, isUploadOf('b.md'));
  expect(daemon.impediments).toEqual([]);
  expect(daemon.approve()).toEqual({ approved: [], missing: [] });
  await daemon.reload();
  await daemon.stop();
  await daemon.stopped;
  expect(daemon.status()).toMatchObject({ inSync: false, service: { kind: 'stopped' } });
  // It has let go of the state file.
  expect(await openSite(site).pass()).toMatchObject({ summary: { unchanged: 2 } });
});

test('a signal stops a daemon, and what cannot start is told by start', async () => {
  const site = await createSite();
  const stop = new AbortController();
  const daemon = await openSite(site).start({ signal: stop.signal });
  await expect(openSite(site).start()).rejects.toMatchObject({ code: 'busy' });
  stop.abort();
  await daemon.stopped;
});

test('a pass that is stopped before it looked at anything does not claim to have seen all', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'a');
  const told: boolean[] = [];
  const sync = openSite(site, {
    observer: { end: (summary, isDryRun, isCutShort) => told.push(isCutShort) },
  });
  expect(await sync.pass({ signal: AbortSignal.abort() })).toMatchObject({
    ...{ outcome: 'interrupted', sawAll: false },
    summary: { uploaded: 0 },
  });
  expect(told).toEqual([true]);
  expect(await sync.pass()).toMatchObject({ outcome: 'in-sync', sawAll: true, summary: { uploaded: 1 } });
  expect(told).toEqual([true, false]);
});

test('a log that throws keeps no daemon from letting go of everything', async () => {
  const site = await createSite();
  let isBroken = false;
  const write = (): void => {
    if (isBroken) throw new Error('the log is broken');
  };
  const sync = openSite(site, { log: { debug: write, info: write, warn: write, error: write } });
  const daemon = await sync.start();
  isBroken = true;
  await expect(daemon.reload()).rejects.toThrow('the log is broken');
  isBroken = false;
  await daemon.reload();
  isBroken = true;
  await expect(daemon.reload()).rejects.toThrow('the log is broken');
  await expect(daemon.stop()).rejects.toThrow('the log is broken');
  expect(await openSite(site).pass()).toMatchObject({ outcome: 'in-sync' });
});

test('several syncs in one process share nothing', async () => {
  const sites = [await createSite(), await createSite()];
  const passes = sites.map(async (site, index) => {
    site.write(`docs/${index}.md`, `${index}`);
    const paths: string[] = [];
    const sync = openSite(site, { observer: { event: ({ path }) => paths.push(path) } });
    expect(await sync.pass()).toMatchObject({ outcome: 'in-sync' });
    return paths;
  });
  expect(await Promise.all(passes)).toEqual([['0.md'], ['1.md']]);
});
