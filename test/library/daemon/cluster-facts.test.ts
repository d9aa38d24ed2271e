import { expect, test } from 'vitest';
import type { HostRow } from '../../../src/cluster/membership.ts';
import type { HostReport } from '../../../src/library/cluster/host-reports.ts';
import { clusterFacts } from '../../../src/library/daemon/cluster-facts.ts';

test.each<[string, unknown, string | undefined]>([
  [
    'is refused',
    { troubles: [null, { kind: 'credentials', reason: '401 Unauthorized' }] },
    '401 Unauthorized',
  ],
  ['is out of reach', { troubles: [{ kind: 'out-of-reach' }] }, undefined],
  ['says nothing', null, undefined],
  ['has a report that no host wrote', { troubles: 7 }, undefined],
  ['gives a reason that is none', { troubles: [{ kind: 'credentials', reason: {} }] }, undefined],
])('a host that %s', (_, snapshot, refusal) => {
  const web2: HostRow = {
    ...{ name: 'web2', instance: 'i', beat: 1, weight: 1, version: '1.2.3', digest: 'd', units: [] },
    report: null,
  };
  const report = { share: null, snapshot } as unknown as HostReport;
  const seen = (alive: readonly HostRow[]) =>
    clusterFacts({
      situation: {
        ...{ host: 'web1', trouble: null, alive, held: [], sources: [], own: [], pinned: [] },
        ...{ blocked: new Map(), failed: new Map(), isHaltedElsewhere: () => false, isDatabaseUp: true },
        view: {
          ...{ isKnown: true, proven: [], hosts: [web2], units: [], wishes: [] },
          ...{ databaseRun: '1', version: 1, stateVersion: 1 },
        },
      },
      share: 1,
      reports: new Map([['web2', report]]),
    }).hosts[0];
  expect(seen([web2])?.refusal).toBe(refusal);
  expect(seen([]), 'what a silent host said is over').not.toHaveProperty('refusal');
});
