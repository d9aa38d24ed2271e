import { expect } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';

/** Fails when a text that people or files get to see holds a secret, or where in the program something happened. */
export function expectNoSecrets(text: string, { token, userKey }: Emulator): void {
  for (const secret of [token, userKey, 'X-Amz-Signature', 'Bearer ']) expect(text).not.toContain(secret);
  expect(text).not.toMatch(/^\s+at .*:\d+:\d+/mu);
}
