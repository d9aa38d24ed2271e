import { describe, expect, test } from 'vitest';
import type { FaultAction } from '../../../src/emulator/faults.ts';
import { descriptorsOf } from '../../descriptors.ts';

import { LARGE, operations, stateOf, world } from './send-world.ts';

describe('a failure', () => {
  test.each<[string, FaultAction, object, boolean]>([
    ['credentials', { kind: 'status', status: 401 }, { kind: 'credentials', scope: 'all' }, false],
    ['of the bot', { kind: 'status', status: 403 }, { kind: 'credentials', scope: 'bot' }, false],
    ['quota', { kind: 'status', status: 402 }, { kind: 'quota' }, false],
    ['refused', { kind: 'status', status: 400 }, { kind: 'refused' }, false],
    ['transient', { kind: 'status', status: 500 }, { kind: 'transient' }, true],
    ['without an answer', { kind: 'apply-then-drop' }, { kind: 'transient' }, true],
    ['without sense', { kind: 'garbage' }, { kind: 'transient' }, true],
    ['without an address', { kind: 'missing-upload-url' }, { kind: 'transient' }, true],
  ])('of the upsert: %s', async (_, fault, failure, upserted) => {
    const { write, send, emulator } = await world();
    const path = write('a.txt', 'abc');
    emulator.faults.add({ operation: 'upsert', ...fault });
    expect(await send()).toMatchObject({ kind: 'failed', failure, upserted, state: stateOf(path) });
    expect(operations(emulator)).toEqual(['upsert']);
    expect((await send()).kind).toBe('sent');
  });

  test.each<[string, FaultAction, object]>([
    ['refused', { kind: 'status', status: 400 }, { kind: 'refused' }],
    ['an address that is used up', { kind: 'status', status: 403 }, { kind: 'transient' }],
    ['no answer', { kind: 'drop' }, { kind: 'transient' }],
  ])('of the upload: %s', async (_, fault, failure) => {
    for (const size of [3, LARGE]) {
      const { write, send, emulator } = await world();
      const path = write('a.txt', Buffer.alloc(size));
      emulator.faults.add({ operation: 'upload', ...fault });
      const result = await send();
      expect(result).toMatchObject({ kind: 'failed', failure, upserted: true, state: stateOf(path) });
      expect((await send()).kind).toBe('sent');
      expect(operations(emulator)).toEqual(['upsert', 'upload', 'upsert', 'upload']);
    }
  });

  test('by abort is a failure of ours, in either request', async () => {
    for (const operation of ['upsert', 'upload']) {
      const { write, send, emulator } = await world();
      write('a.txt', 'abc');
      emulator.faults.add({ operation, kind: 'hang' });
      const abort = new AbortController();
      const sending = send({}, {}, abort.signal);
      await expect.poll(() => emulator.faults.pending()).toEqual([]);
      abort.abort();
      expect(await sending).toMatchObject({
        kind: 'failed',
        failure: { kind: 'transient', message: 'interrupted' },
        upserted: true,
      });
    }
  });

  test('of whatever kind leaves no file open', async () => {
    const { write, send, emulator } = await world();
    const path = write('a.txt', Buffer.alloc(LARGE));
    for (const fault of [
      { kind: 'drop' },
      { kind: 'answer-then-drop' },
      { kind: 'status', status: 500 },
    ] as const) {
      for (const operation of ['upsert', 'upload']) {
        emulator.faults.add({ operation, ...fault });
        await send();
      }
    }
    expect(descriptorsOf(path)).toEqual([]);
  });
});
