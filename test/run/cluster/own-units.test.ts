import { expect, test } from 'vitest';
import type { UnitRow } from '../../../src/cluster/shared-ledger.ts';
import { differencesOf } from '../../../src/domain/hindrance.ts';
import { overlapOf, settingsOf, type OwnUnit } from '../../../src/run/cluster/own-units.ts';
import type { Config } from '../../../src/config/config.ts';
import { createWorld } from '../../sync/world.ts';
import { hostRow, unitRow } from './rows.ts';

const source = (keyPrefix: string, directory = ''): OwnUnit['sources'][number] =>
  ({ name: 'docs', keyPrefix, directory }) as OwnUnit['sources'][number];

const OWN: OwnUnit = {
  ...{ id: 5, name: 'docs', target: 1, sources: [source('docs/')] },
  at: { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' },
};

const unit = (id: number, keyPrefix: string, more: Partial<UnitRow> = {}): UnitRow =>
  unitRow(id, keyPrefix, { holderHost: 'web2', ...more });

test('of two units that may give the same keys the later one is halted, and both hosts are named', () => {
  const held = unit(2, 'docs/en/', { holder: 'process' });
  expect(overlapOf(OWN, { units: [held] }, [])).toMatch(
    /may be those of "unit 2" on web2; give one of them/u,
  );
  // It could be taken.
  const free = unit(2, '', { holderHost: null });
  expect(overlapOf(OWN, { units: [free] }, [hostRow('web3', [2])])).toMatch(/"unit 2" on web3;/u);
  const inNobodysWay = [
    unit(6, 'docs/', { holder: 'process' }),
    unit(2, 'faq/', { holder: 'process' }),
    unit(2, 'docs/', { holder: 'process', target: 2 }),
    unit(2, 'docs/'),
    unit(2, '', { holder: 'process', sources: [] }),
  ];
  for (const other of inNobodysWay)
    expect(overlapOf(OWN, { units: [other] }, [hostRow('web3', [])])).toBeNull();
});

test('hosts agree as long as they treat a source alike, wherever it is mounted', async () => {
  const world = await createWorld({ sources: [{ directory: './docs' }] });
  const config = world.config();
  const [docs] = config.sources;
  if (docs === undefined) throw new Error('no source');
  const ours = settingsOf(config, docs, 'https://api.example');
  const differing = (other: Partial<Config>, source: Partial<typeof docs> = {}): string[] => {
    const theirs = settingsOf({ ...config, ...other }, { ...docs, ...source }, 'https://api.example');
    return differencesOf(ours, theirs).map(({ field, here, ledger }) => `${field} ${here} ${ledger}`);
  };
  const elsewhere = { match: ['*.md'], sources: ['news'], set: { index: false } } as never;
  expect(differing({ upload: { ...config.upload, concurrency: 1 }, rules: [elsewhere] })).toEqual([]);
  expect(differing({}, { directory: '/mnt/elsewhere' })).toEqual([]);
  expect(differing({}, { keyPrefix: 'kb/' })).toEqual(['keyPrefix "" "kb/"']);
  expect(differing({}, { ignore: ['*.tmp'] })).toEqual(['ignore[0] null "*.tmp"']);
  expect(differing({ removals: { ...config.removals, mode: 'delete' } })).toEqual([
    'removals.mode "keep" "delete"',
  ]);
  const rule = { match: ['*.md'], sources: null, set: { index: false } } as never;
  expect(differing({ rules: [rule] })).toEqual(['rules[0] null {"match":["*.md"],"set":{"index":false}}']);
});
