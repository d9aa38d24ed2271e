import { describe, expect, test } from 'vitest';
import type { ClusterFacts, HostFacts, UnitFacts } from '../../../src/domain/cluster-status.ts';
import { type SourceStatus } from '../../../src/domain/status.ts';
import { standingOf } from '../../../src/sync/plan/standing.ts';
import { EMPTY_SOURCE } from '../../../src/sync/plan/overview.ts';

const unit = (more: Partial<UnitFacts> = {}): UnitFacts => ({
  ...{ name: 'docs', sources: ['docs'], holderHost: 'web2', epoch: 3, isConfigured: true },
  isHalted: false,
  whyUntaken: null,
  ...more,
});
const DIFFERS = { kind: 'differing', source: 'docs', fields: [] } as const;
const BLIND = { kind: 'unseen', source: 'docs', unit: 1, halt: 'missing', reason: 'it is gone' } as const;

const host = (name: string, more: Partial<HostFacts> = {}): HostFacts => ({
  ...{ name, version: '1.2.3', alive: true, isMe: name === 'web1', hindrances: [] },
  ...more,
});
const both = [host('web1'), host('web2')];

const CALM: ClusterFacts = {
  host: 'web1',
  trouble: null,

  held: [],
  units: [unit()],
  hosts: both,
  blocked: {},
  failed: {},
};

/** The exit code with the kinds of the troubles. */
function told(cluster: Partial<ClusterFacts>, sources: readonly SourceStatus[] = []): string {
  const known = {
    sources,
    failures: [],
    lastPass: null,
    sinceLastPass: null,
    lastVerification: null,
    pause: null,
  };
  const service = { kind: 'running' as const };
  const running = { activity: 'watching' as const, isFirstPassOver: true, queued: 0 };
  const { exitCode, troubles } = standingOf({ ...known, service, cluster: { ...CALM, ...cluster } }, running);
  return [exitCode, ...troubles.map(({ kind }) => kind)].join(' ');
}

const elsewhere = { ...EMPTY_SOURCE, name: 'docs', files: 3, syncedBy: 'web2' };

describe('the exit code of a host, and what is wrong in its cluster', () => {
  test.each<[string, Partial<ClusterFacts>, string]>([
    ['another host has it all', {}, '0'],
    ['the database is out of reach', { trouble: 'gone' }, '3 cluster'],
    [
      'nothing is heard while it is',
      { trouble: 'gone', hosts: [host('web2', { alive: false })] },
      '3 cluster',
    ],
    ['nobody has a unit', { units: [unit({ holderHost: null })] }, '3 free-unit'],
    ['this host has just taken it', { held: ['docs'], units: [unit({ holderHost: null })] }, '0'],
    ['who has it is silent', { hosts: [host('web1'), host('web2', { alive: false })] }, '3 free-unit'],
    ['a host without any unit is silent', { hosts: [...both, host('web3', { alive: false })] }, '0'],
    ['a unit of others is free', { units: [unit({ holderHost: null, isConfigured: false })] }, '0'],
    ['keys meet', { units: [unit({ holderHost: null })], blocked: { docs: 'meets' } }, '5 blocked-unit'],
    [
      'this host has a source otherwise',
      { hosts: [host('web1', { hindrances: [DIFFERS] }), host('web2')] },
      '5 differing-source',
    ],
    [
      'another host has it otherwise',
      { hosts: [host('web1'), host('web2', { hindrances: [DIFFERS] })] },
      '0',
    ],
    ['a host does not see it', { hosts: [host('web1', { hindrances: [BLIND] }), host('web2')] }, '0'],
  ])('%s', (_what, cluster, expected) => {
    expect(told(cluster)).toBe(expected);
  });

  test.each<[string, Partial<SourceStatus>, string]>([
    ['all of it is in sync', {}, '0'],
    ['files of it failed', { failed: 2 }, '3 elsewhere'],
    ['it is halted', { halted: 'too much' }, '5 halted'],
    ['a file of it is being sent', { sending: 1 }, '3'],
  ])('a source that another host syncs: %s', (_what, source, expected) => {
    expect(told({}, [{ ...elsewhere, ...source }])).toBe(expected);
  });
});
