import { describe, expect, test } from 'vitest';
import type { ClusterFacts, HostFacts, UnitFacts } from '../../../src/sync/plan/cluster-facts.ts';
import { EMPTY_SOURCE, type SourceStatus } from '../../../src/sync/plan/overview.ts';
import { standingOf } from '../../../src/sync/plan/standing.ts';

const unit = (more: Partial<UnitFacts> = {}): UnitFacts => ({
  ...{ name: 'docs', sources: ['docs'], holderHost: 'web2', epoch: 3, pinned: null, isConfigured: true },
  isHalted: false,
  whyUntaken: null,
  ...more,
});
const host = (name: string, more: Partial<HostFacts> = {}): HostFacts => ({
  ...{ name, version: '1.2.3', alive: true, isMe: name === 'web1', share: null, sameConfig: true },
  ...more,
});
const both = [host('web1'), host('web2')];

const CALM: ClusterFacts = {
  host: 'web1',
  trouble: null,
  notifier: null,
  held: [],
  units: [unit()],
  hosts: both,
  blocked: {},
  failed: {},
};

/** The exit code with the kinds of the troubles. */
function told(cluster: Partial<ClusterFacts>, sources: readonly SourceStatus[] = []): string {
  const known = { sources, failures: [], lastPass: null, sinceLastPass: null, lastVerification: null };
  const running = { activity: 'watching' as const, isFirstPassOver: true, queued: 0 };
  const { exitCode, troubles } = standingOf({ ...known, cluster: { ...CALM, ...cluster } }, running);
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
    ['hosts differ', { hosts: [host('web1'), host('web2', { sameConfig: false })] }, '3 differing-hosts'],
    [
      'a host that differed is gone',
      { hosts: [...both, host('web3', { alive: false, sameConfig: false })] },
      '0',
    ],
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
