import { expect, test } from 'vitest';
import { failed } from '../../../src/domain/failure.ts';
import { FileQuestions } from '../../../src/run/daemon/page/explain-file.ts';

test('a file is asked about once in 10 s, few at a time, and none while files are sent', async () => {
  let nowMs = 0;
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  const questions = new FileQuestions(() => nowMs);
  const catalog = {
    get: async (_: string, key: string) => {
      asked.push(key);
      await new Promise<void>((resolve) => answers.push(resolve));
      return failed({ kind: 'not-found', message: 'gone' } as const);
    },
  };
  const ask = (key: string, isSending = false): Promise<string> | string =>
    questions.ask('bot', key, catalog, isSending);

  expect(ask('a', true)).toContain('while files are being sent');
  const all = Array.from({ length: 1900 }, () => ask('a'));
  const second = ask('b');
  expect(ask('c')).toContain('about other files');
  expect(asked).toEqual(['a', 'b']);
  answers.forEach((answer) => {
    answer();
  });
  expect(new Set(await Promise.all(all.map(async (one) => await one)))).toEqual(
    new Set(['the platform did not answer (gone)']),
  );
  await second;
  nowMs = 9999;
  await ask('a', true);
  expect(asked).toHaveLength(2);
  nowMs = 10_000;
  void ask('a');
  expect(asked).toEqual(['a', 'b', 'a']);
});
