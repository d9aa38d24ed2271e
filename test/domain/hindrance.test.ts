import { expect, test } from 'vitest';
import {
  ableHosts,
  isHindrance,
  seeingInstead,
  toldHindrances,
  type AbleHost,
  type Unseen,
} from '../../src/domain/hindrance.ts';

const DOCS = 1;
const NEWS = 2;

const MISSING: Unseen['halt'] = { kind: 'missing', directory: '/d', fault: { kind: 'silent' } };
const EMPTY: Unseen['halt'] = { kind: 'no-files', directory: '/d' };
const EMPTIED: Unseen['halt'] = {
  ...{ kind: 'emptied', directory: '/d', identity: 'd' },
  atStake: { count: 1, first: ['a'], digest: 'x' },
};

const unseen = (unit: number, halt: Unseen['halt'] = MISSING): Unseen => ({
  ...{ kind: 'unseen', source: `source ${unit}`, unit, halt },
});

const host = (name: string, units: readonly number[], ...blind: readonly Unseen[]): AbleHost => ({
  ...{ name, units, hindrances: blind },
});

const names = (hosts: readonly AbleHost[]): string[] => hosts.map(({ name }) => name);

test('a unit is for the hosts that see its files, and where none does for all that have it', () => {
  const blind = host('web1', [DOCS, NEWS], unseen(DOCS));
  const seeing = host('web2', [DOCS]);
  const without = host('web3', [NEWS]);
  expect(names(ableHosts([blind, seeing, without], DOCS))).toEqual(['web2']);
  expect(names(ableHosts([blind, without], DOCS))).toEqual(['web1']);
  expect(names(ableHosts([blind, without], NEWS))).toEqual(['web1', 'web3']);
});

test('a host leaves a unit to another only if it does not see the files itself, and the other does and would take it', () => {
  const blind = host('web1', [DOCS], unseen(DOCS));
  const both = [blind, host('web2', [DOCS])];
  expect(seeingInstead(both, 'web1', DOCS)).toBe('web2');
  expect(seeingInstead(both, 'web2', DOCS)).toBeNull();
  expect(seeingInstead([blind, host('web2', [DOCS], unseen(DOCS, EMPTIED))], 'web1', DOCS)).toBeNull();
  expect(seeingInstead([blind, host('web2', [])], 'web1', DOCS), 'it has just let go of it').toBeNull();
  // Also while it does not want it itself.
  expect(seeingInstead([host('web1', [], unseen(DOCS)), host('web2', [DOCS])], 'web1', DOCS)).toBe('web2');
});

test('that a directory is empty is told only where another host sees files', () => {
  const empty = host('web1', [DOCS, NEWS], unseen(DOCS, EMPTY), unseen(NEWS));
  expect(toldHindrances(empty, [empty])).toEqual([unseen(NEWS)]);
  expect(toldHindrances(empty, [empty, host('web2', [DOCS])])).toEqual([unseen(DOCS, EMPTY), unseen(NEWS)]);
});

test.each<[unknown, boolean]>([
  [unseen(DOCS), true],
  [{ kind: 'differing', source: 'docs', fields: [] }, true],
  [{ kind: 'differing', source: 'docs', fields: [{ field: 'rules', here: null, ledger: '[]' }] }, true],
  [{ kind: 'differing', source: 'docs', fields: [{ field: 'rules', here: 5, ledger: '[]' }] }, false],
  [{ kind: 'differing', source: 'docs' }, false],
  [unseen(DOCS, EMPTY), true],
  [{ kind: 'unseen', source: 'docs' }, false],
  [{ ...unseen(DOCS), halt: 'missing' }, false],
  [{ ...unseen(DOCS), halt: { ...MISSING, fault: { kind: 'other' } } }, false],
  [{ ...unseen(DOCS), halt: { kind: 'new-keys' } }, false],
  [{ kind: 'other', source: 'docs' }, false],
  [{ ...unseen(DOCS), source: 5 }, false],
  [null, false],
])('whether the database has a hindrance: %j', (value, expected) => {
  expect(isHindrance(value)).toBe(expected);
});
