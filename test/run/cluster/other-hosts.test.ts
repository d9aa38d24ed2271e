import { expect, test } from 'vitest';
import type { ClusterView, UnitRow } from '../../../src/cluster/shared-ledger.ts';
import { OtherHosts } from '../../../src/run/cluster/other-hosts.ts';
import type { OwnUnit } from '../../../src/run/cluster/own-units.ts';
import { hostRow, unitRow } from './rows.ts';

/** Until when all other units have sent what was there, after such units were seen at the moment 1000. */
function settledUntilMs(units: readonly UnitRow[]): number {
  const otherHosts = new OtherHosts('web1', 3000, () => 0);
  const view: ClusterView = {
    ...{ isKnown: true, proven: [], units, commands: [], settings: new Map() },
    ...{ databaseRun: '1', version: 1, stateVersion: 1 },
    hosts: [
      hostRow(
        'web2',
        units.map(({ id }) => id),
      ),
    ],
  };
  otherHosts.note(view, 1000);
  return otherHosts.othersSettledUntilMs({ id: 9, target: 1 } as OwnUnit);
}

test('a missing file is waited for until all other units of its bot have sent what was there', () => {
  expect(
    settledUntilMs([unitRow(1, 'a/', { settledAgeMs: 200 }), unitRow(2, 'b/', { settledAgeMs: 300 })]),
  ).toBe(700);
  expect(settledUntilMs([unitRow(1, 'a/', { settledAgeMs: 200 }), unitRow(2, 'b/')]), 'not known yet').toBe(
    0,
  );
  expect(settledUntilMs([unitRow(1, 'a/', { target: 2 })])).toBe(Infinity);
});

test('but not for a unit that is halted: it sends nothing', () => {
  const first = unitRow(1, 'a/', { settledAgeMs: 200 });
  expect(settledUntilMs([first, unitRow(2, 'a/b/')])).toBe(800);
});
