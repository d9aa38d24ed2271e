import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HostRow, UnitRow } from '../../../src/cluster/membership.ts';
import { digestOf, overlapOf, seesAll, type OwnUnit } from '../../../src/library/cluster/own-units.ts';
import type { Config } from '../../../src/config/config.ts';
import { mountHanging, NO_MOUNTS } from '../../mounts.ts';
import { createWorld } from '../../sync/world.ts';
import { makeTemporaryDirectory } from '../../temporary-directory.ts';

const source = (keyPrefix: string, directory = ''): OwnUnit['sources'][number] =>
  ({ name: 'docs', keyPrefix, directory }) as OwnUnit['sources'][number];

const OWN: OwnUnit = {
  ...{ id: 5, name: 'docs', target: 1, sources: [source('docs/')], isPinned: false },
  at: { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' },
};

function unit(id: number, keyPrefix: string, more: Partial<UnitRow> = {}): UnitRow {
  return {
    ...{ id, target: 1, name: `unit ${id}`, sources: [{ name: 'theirs', keyPrefix }], pinned: null },
    ...{ epoch: 1, beat: 1, seq: 1, holder: null, holderHost: 'web2', settledAgeMs: null, ...more },
  };
}

const host = (name: string, units: readonly number[]): HostRow => ({
  ...{ name, units, instance: name, weight: 1, version: '1', digest: '', beat: 1, report: null },
});

test('of two units that may give the same keys the later one is halted, and both hosts are named', () => {
  const held = unit(2, 'docs/en/', { holder: 'process' });
  expect(overlapOf(OWN, { units: [held], hosts: [] }, [])).toMatch(
    /may be those of "unit 2" on web2; give one of them/u,
  );
  // It could be taken, or is pinned: its host is there.
  const free = unit(2, '', { holderHost: null });
  expect(overlapOf(OWN, { units: [free], hosts: [] }, [host('web3', [2])])).toMatch(/"unit 2" on web3;/u);
  const inNobodysWay = [
    unit(6, 'docs/', { holder: 'process' }),
    unit(2, 'faq/', { holder: 'process' }),
    unit(2, 'docs/', { holder: 'process', target: 2 }),
    unit(2, 'docs/'),
    unit(2, '', { holder: 'process', sources: [] }),
  ];
  for (const other of inNobodysWay)
    expect(overlapOf(OWN, { units: [other], hosts: [] }, [host('web3', [])])).toBeNull();
  // Nobody takes a pinned one over: while its host is on the list, it may be at work without the database.
  const pinned = { units: [unit(2, 'docs/', { pinned: 'web2', holderHost: null })] };
  const web2 = host('web2', [2]);
  expect(overlapOf(OWN, { ...pinned, hosts: [web2] }, [web2])).toMatch(
    /give one of them another keyPrefix$/u,
  );
  expect(overlapOf(OWN, { ...pinned, hosts: [web2] }, [])).toMatch(
    /on web2; .*if web2 is gone for good, run: botsync cluster forget web2$/u,
  );
  expect(overlapOf(OWN, { ...pinned, hosts: [host('web2', [])] }, [])).toBeNull();
  expect(overlapOf(OWN, { ...pinned, hosts: [host('web3', [2])] }, [])).toBeNull();
});

test('hosts agree as long as they treat shared files alike', async () => {
  const world = await createWorld({ sources: [{ directory: './docs' }] });
  const config = world.config();
  const [docs] = config.sources;
  if (docs === undefined) throw new Error('no source');
  const alike: Config = {
    ...config,
    sources: [
      { ...docs, directory: '/mnt/elsewhere' },
      { ...docs, name: 'own', host: 'web1' },
    ],
    upload: { ...config.upload, concurrency: 1 },
  };
  expect(digestOf(alike)).toBe(digestOf(config));
  const others: Config[] = [
    { ...config, sources: [{ ...docs, keyPrefix: 'other/' }] },
    { ...config, sources: [{ ...docs, botId: 'bot-2' as never }] },
    { ...config, rules: [{ match: ['*.md'] } as never] },
    { ...config, limits: null as never },
    { ...config, removals: null as never },
    { ...config, platform: { ...config.platform, baseUrl: 'https://other.example' } },
  ];
  expect(new Set([config, ...others].map(digestOf)).size).toBe(1 + others.length);
});

test('a host that does not see all directories of a unit cannot take it', async () => {
  const directory = makeTemporaryDirectory('sees');
  mkdirSync(join(directory, 'docs'));
  writeFileSync(join(directory, 'file'), '');
  const at = (...names: string[]): Pick<OwnUnit, 'sources'> => ({
    sources: names.map((name) => source('', join(directory, name))),
  });
  expect(await seesAll(at('docs'), 10_000)).toBe(true);
  expect(await seesAll(at(), 10_000)).toBe(true);
  expect(await seesAll(at('docs', 'gone'), 10_000)).toBe(false);
  expect(await seesAll(at('file'), 10_000)).toBe(false);
});

test('a share that hangs is waited for only so long, and takes one thread however often it is looked at', async (context) => {
  const directory = makeTemporaryDirectory('sees');
  for (const name of ['docs', 'share']) mkdirSync(join(directory, name));
  const at = (...names: string[]): Pick<OwnUnit, 'sources'> => ({
    sources: names.map((name) => source('', join(directory, name))),
  });
  const giveUp = mountHanging(join(directory, 'share'));
  if (giveUp === null) {
    context.skip(NO_MOUNTS);
    return;
  }
  const patienceMs = 100;
  const beganMs = performance.now();
  expect(await seesAll(at('share'), patienceMs)).toBe(false);
  // Timers may fire a little early.
  expect(performance.now() - beganMs).toBeGreaterThan(patienceMs - 10);
  // More looks than there are threads: what is elsewhere is seen all the same.
  const looks = Array.from({ length: 20 }, () => seesAll(at('docs', 'share'), patienceMs));
  expect(new Set(await Promise.all(looks))).toEqual(new Set([false]));
  expect(await seesAll(at('docs'), 10_000)).toBe(true);
  const waiting = seesAll(at('share'), 10_000);
  giveUp();
  expect(await waiting, 'it answers that it is gone').toBe(false);
  expect(await seesAll(at('docs', 'share'), 10_000), 'it is back').toBe(true);
});
