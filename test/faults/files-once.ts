import { expect } from 'vitest';
import type { FileEvent } from '../../src/domain/report.ts';
import { createWorld } from '../sync/world.ts';
import type { FileOperation } from './columns.ts';
import type { FileCell } from './expectation.ts';
import type { FaultName } from './faults.ts';
import { describeFile, differences, edit, setScene, STRUCK, triesOf } from './files.ts';

/**
 * Single passes, one after the other: all is in sync; files change and one of them is struck; the fault is over. Fails
 * where in the end not all is in sync, or more was asked than was needed for it.
 */
export async function strikeOnce(fault: FaultName, operation: FileOperation): Promise<FileCell> {
  const { place, world, before } = await setScene(fault, operation, createWorld);
  const events: FileEvent[] = [];
  const retries: string[] = [];
  const struck = await world.pass({
    report: {
      event: (event) => events.push(event),
      warn: (message) => retries.push(message),
      retrying: (path, reason) => retries.push(`${path} ${reason}`),
      sent: () => undefined,
    },
  });
  const tries = triesOf(world, operation) - before;
  const described = describeFile(world, place, { ...struck, events, retries }, tries);
  await place.end();

  const after = await world.pass();
  expect(after.requests).toBe(2 * after.summary.uploaded);
  expect(differences(world).filter((path) => path !== STRUCK)).toEqual([]);
  let mended: FileCell['mended'] = struck.exitCode === 0 ? 'nothing' : 'next-pass';
  if (differences(world).length > 0) {
    expect(await world.pass()).toMatchObject({ requests: 0, exitCode: after.exitCode });
    edit(world, fault, 'edited');
    await world.pass();
    mended = 'edit';
  }
  expect(differences(world)).toEqual([]);
  expect(await world.pass()).toMatchObject({ exitCode: 0, requests: 0 });
  expect(world.status().failures).toEqual([]);
  return { ...described, mended };
}
