import type { HostRow, UnitRow } from '../../../src/cluster/shared-ledger.ts';

/** A unit of the ledger that nobody holds, with one source. */
export function unitRow(id: number, keyPrefix: string, more: Partial<UnitRow> = {}): UnitRow {
  return {
    ...{ id, target: 1, name: `unit ${id}`, sources: [{ name: 'theirs', keyPrefix }] },
    ...{ epoch: 1, beat: 1, seq: 1, holder: null, holderHost: null, settledAgeMs: null, ...more },
  };
}

/** A host of the ledger that could work on units. */
export function hostRow(name: string, units: readonly number[]): HostRow {
  const usual = { beat: 1, isVisitor: false, version: '1', hindrances: [], report: null, pausedForMs: 0 };
  return { name, units, instance: name, ...usual };
}
