import { expect, test } from 'vitest';
import type { CommandRow } from '../../../src/cluster/shared-ledger.ts';
import { carryOutCommands } from '../../../src/run/cluster/carry-out-commands.ts';
import type { OwnUnit } from '../../../src/run/cluster/own-units.ts';

/** Units that a host holds, and what becomes of commands. */
function createHost(held: ReadonlyMap<number, 'at work' | 'ending'>, taken = true) {
  const told: string[] = [];
  const at = { baseUrl: 'https://api.example', botId: 'bot-1', identity: '{}' };
  const unitOf = (id: number, name: string): OwnUnit => ({ id, name, target: 1, sources: [], at });
  const units = [unitOf(1, 'docs'), unitOf(2, 'branch'), unitOf(9, 'news')];
  const input = {
    membership: {
      takeCommand: (id: number) => {
        told.push(`taken ${id}`);
        return Promise.resolve(taken);
      },
    },
    declared: { find: (id: number) => units.find((unit) => unit.id === id) },
    held: {
      get: (id: number) => {
        const state = held.get(id);
        const release = (): number => told.push(`released ${id}`);
        return state === undefined
          ? undefined
          : {
              grant: { unit: id, epoch: 3, instance: 'i', seq: 0, isInDoubt: false },
              isEnding: state === 'ending',
              release,
            };
      },
    },
    log: { error: (message: string) => told.push(message) },
    isAtWork: () => true,
    carryOut: ({ name }: OwnUnit, { kind }: CommandRow) => told.push(`${kind} ${name}`),
  };
  return { told, carryOut: (commands: readonly CommandRow[]) => carryOutCommands(commands, input) };
}

const command = (
  id: number,
  unit: number,
  kind: string,
  body: unknown = { source: 'docs', halt: '1a' },
): CommandRow => ({
  ...{ id, unit, kind, body },
});

test('a command is carried out by who holds the unit, and took the command off the list; who was not asked lets go of nothing', async () => {
  const commands = [
    command(1, 1, 'approve'),
    command(2, 2, 'rescan'),
    command(3, 9, 'release', { epoch: 3 }),
    command(6, 9, 'release', { epoch: 2 }),
    command(4, 5, 'approve'),
  ];
  const held = new Map([
    [2, 'at work' as const],
    [9, 'at work' as const],
  ]);
  const host = createHost(held);
  await host.carryOut(commands);
  expect(host.told).toEqual(['taken 2', 'rescan branch', 'taken 3', 'released 9', 'taken 6']);
  const late = createHost(held, false);
  await late.carryOut(commands);
  expect(late.told).toEqual(['taken 2', 'taken 3', 'taken 6']);
});

test('a command that makes no sense is taken off the list by who holds the unit, which says so, and nothing comes of it', async () => {
  const nonsense = [
    ...[null, 5, 'docs', [], {}, { source: null }, { source: 5 }, { source: 'docs' }].map((body) =>
      command(1, 1, 'approve', body),
    ),
    ...[{}, { source: 'docs', path: 5 }].map((body) => command(1, 1, 'rescan', body)),
    ...[{}, { source: 'docs' }, { source: 'docs', digest: '1a', glob: 5 }].map((body) =>
      command(1, 1, 'prune', body),
    ),
    ...[command(1, 1, 'dance'), command(1, 2, '')],
    ...[command(1, 1, 'release', null), command(1, 1, 'release', {})],
  ];
  const held = new Map([
    [1, 'at work' as const],
    [2, 'at work' as const],
    [9, 'at work' as const],
  ]);
  for (const one of nonsense) {
    const host = createHost(held);
    await host.carryOut([one]);
    const name = { 1: 'docs', 2: 'branch', 9: 'news' }[one.unit] ?? '';
    const said = `a command for ${name} in the ledger cannot be read, and was deleted`;
    expect(host.told, JSON.stringify(one)).toEqual(['taken 1', said]);
    const late = createHost(held, false);
    await late.carryOut([one]);
    expect(late.told, 'another process was quicker').toEqual(['taken 1']);
    const other = createHost(new Map());
    await other.carryOut([one]);
    expect(other.told, 'it is for who holds the unit').toEqual([]);
  }
  const host = createHost(held);
  await host.carryOut([
    ...[command(1, 1, 'rescan'), command(2, 1, 'rescan', { source: 'docs', path: 'a.md' })],
    ...[command(3, 1, 'rescan', { source: 'docs', path: null }), command(4, 1, 'release', { epoch: 3 })],
  ]);
  await host.carryOut([command(5, 1, 'prune', { source: 'docs', digest: '1a', glob: null })]);
  const carriedOut = ['rescan docs', 'rescan docs', 'rescan docs', 'released 1', 'prune docs'];
  expect(host.told.filter((one) => !one.startsWith('taken'))).toEqual(carriedOut);
});
