import { expect, test } from 'vitest';
import { Workers } from '../../../src/sync/pass/workers.ts';
import { NEVER } from '../../platform/fixture.ts';

test('whoever waited for room goes on after what was due already: the next request before the next file', async () => {
  const workers = new Workers(1, () => undefined, NEVER);
  const order: string[] = [];
  let end: () => void = () => undefined;
  const adding = workers
    .add(() => new Promise((resolve) => (end = resolve)))
    .then(() => order.push('the next file'));
  setImmediate(() => order.push('a request'));
  end();
  await adding;
  expect(order).toEqual(['a request', 'the next file']);
});

test('a job that throws is told before anybody waits, and to whoever adds the next', async () => {
  let failures = 0;
  const workers = new Workers(2, () => (failures += 1), NEVER);
  await workers.add(() => Promise.reject(new Error('broken')));
  await new Promise((resolve) => setImmediate(resolve));
  expect(failures).toBe(1);
  await expect(workers.add(() => Promise.resolve())).rejects.toThrow('broken');
  await expect(workers.idle()).rejects.toThrow('broken');
  await workers.drain();
});
