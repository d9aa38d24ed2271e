import { expect, test } from 'vitest';
import type { HostRow } from '../../../src/cluster/shared-ledger.ts';
import { HostReports } from '../../../src/run/cluster/host-reports.ts';
import { clusterFacts } from '../../../src/run/daemon/cluster-facts.ts';

test.each<[string, unknown, string | undefined]>([
  ['is refused', { sources: [], refusal: '401 Unauthorized' }, '401 Unauthorized'],
  ['is not', { sources: [], refusal: null }, undefined],
  ['says nothing', null, undefined],
  ['has a report that no host wrote', { troubles: 7 }, undefined],
  ['gives a reason that is none', { refusal: {} }, undefined],
])('a host that %s', async (_, report, refusal) => {
  const web2: HostRow = {
    ...{ name: 'web2', instance: 'i', beat: 1, isVisitor: false, version: '1.2.3', units: [] },
    ...{ hindrances: [], report, pausedForMs: 0 },
  };
  const view = {
    ...{ isKnown: true, proven: [], hosts: [web2], units: [], commands: [], settings: new Map() },
    ...{ databaseRun: '1', version: 1, stateVersion: 1 },
  };
  const reports = new HostReports({ look: () => Promise.resolve(view) }, () => 0);
  await reports.look();
  const seen = (alive: readonly HostRow[]) =>
    clusterFacts({
      situation: {
        ...{ host: 'web1', trouble: null, alive, held: [], sources: [], own: [], view },
        ...{ blocked: new Map(), hindrances: [], failed: new Map(), isDatabaseUp: true },
      },
      reports: reports.known,
    }).hosts[0];
  expect(seen([web2])?.refusal).toBe(refusal);
  expect(seen([]), 'what a silent host said is over').not.toHaveProperty('refusal');
});
