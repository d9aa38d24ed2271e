import { join } from 'node:path';
import { expect, test } from 'vitest';
import { settleDirectory } from '../../src/cli/init-answers.ts';
import type { Prompter } from '../../src/cli/prompter.ts';
import { temporaryDirectory } from './binary.ts';

/** Presses Enter at every choice, and answers at most so many questions. */
function enterEverywhere(directory: string, most: number): Prompter {
  let asked = 0;
  const count = (): void => {
    asked += 1;
    if (asked > most) throw new Error('asked again and again');
  };
  return {
    text: () => {
      count();
      return Promise.resolve(directory);
    },
    confirm: () => Promise.resolve(true),
    choose: <Value>(_question: string, [first]: readonly { readonly value: Value }[]) => {
      count();
      if (first === undefined) throw new Error('nothing to choose');
      return Promise.resolve(first.value);
    },
  };
}

test('whoever takes every default is asked once for a directory that does not exist', async () => {
  const directory = join(temporaryDirectory(), 'docs');
  const prompter = enterEverywhere(directory, 2);
  expect(await settleDirectory(undefined, { prompter, warn: () => undefined })).toBe(directory);
});
