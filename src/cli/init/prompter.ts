import type { Reading } from '../../config/reading.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { shown } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';

/** One thing to choose. */
export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
}

/** Asks a person. Each question throws `UsageError` (exit 130) when the person ends it by Ctrl-C. */
export interface Prompter {
  /** A text; `read` says what is wrong with it. */
  readonly text: (
    question: string,
    fallback: string,
    read: (text: string) => Reading<unknown>,
  ) => Promise<string>;
  readonly choose: <Value>(question: string, choices: readonly Choice<Value>[]) => Promise<Value>;
}

/** Asks on the terminal of standard error, so that standard output has results only; `null` where there is no terminal. */
export async function openPrompter(): Promise<Prompter | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { input, select } = await import('@inquirer/prompts');
  const context = { output: process.stderr };
  return {
    text: (question, fallback, read) => {
      const validate = (text: string): true | string => {
        const reading = read(text);
        return reading.kind === 'ok' || reading.message;
      };
      return asked(input({ message: question, default: fallback, validate }, context));
    },
    choose: <Value>(question: string, choices: readonly Choice<Value>[]) => {
      const options = choices.map(({ name, value }) => ({ name: shown(name), value }));
      return asked(select<Value>({ message: question, choices: options }, context));
    },
  };
}

async function asked<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new UsageError('nothing was written', EXIT.interrupted);
    throw error;
  }
}
