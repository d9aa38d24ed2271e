import { expect, test } from 'vitest';
import { ok } from '../../../src/domain/failure.ts';
import type { Clients } from '../../../src/run/platform/clients.ts';
import type { PlatformAccess } from '../../../src/run/platform/platform-access.ts';
import { RecentAnswer } from '../../../src/run/daemon/page/recent-answer.ts';

test('an answer is asked for once, and reused', async () => {
  let asked = 0;
  const access: Pick<PlatformAccess, 'clients'> = { clients: {} as Clients };
  let changed: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => (changed = resolve));
  const question = (): Promise<ReturnType<typeof ok<string>>> =>
    Promise.resolve(ok(`answer ${(asked += 1)}`));
  const recent = new RecentAnswer(
    () => access as PlatformAccess,
    question,
    3_600_000,
    () => {
      changed();
    },
  );
  expect(recent.lastKnown()).toBeNull();
  await answered;
  expect(recent.lastKnown()).toMatchObject({ value: 'answer 1' });
  expect(recent.lastKnown()).toMatchObject({ value: 'answer 1' });
  expect(asked).toBe(1);
});
