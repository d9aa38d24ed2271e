import type { Reading } from '../config/problem.ts';
import { EXIT } from '../domain/exit-code.ts';
import { shown } from './render/output.ts';
import { UsageError } from './usage-error.ts';

export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
}

/** Asks a person. Every question throws `UsageError` (exit 130) on Ctrl-C. */
export interface Prompter {
  /** `read` validates the text. */
  readonly text: (
    question: string,
    fallback: string,
    read: (text: string) => Reading<unknown>,
  ) => Promise<string>;
  /** The default is no. */
  readonly confirm: (question: string) => Promise<boolean>;
  readonly choose: <Value>(question: string, choices: readonly Choice<Value>[]) => Promise<Value>;
}

/** Asks on standard error, since standard output is for results; returns `null` without a terminal. */
export async function openPrompter(): Promise<Prompter | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { confirm, input, select } = await import('@inquirer/prompts');
  const context = { output: process.stderr };
  return {
    text: (question, fallback, read) => {
      const validate = (text: string): true | string => {
        const reading = read(text);
        return reading.kind === 'ok' || reading.message;
      };
      return asked(input({ message: question, default: fallback, validate }, context));
    },
    confirm: (question) => asked(confirm({ message: question, default: false }, context)),
    choose: <Value>(question: string, choices: readonly Choice<Value>[]) => {
      const options = choices.map(({ name, value }) => ({ name: shown(name), value }));
      return asked(select<Value>({ message: question, choices: options }, context));
    },
  };
}

/** Asks a yes-no question. Throws `UsageError`, with the reason of the question, where nobody can be asked. */
export async function confirm(reason: string, question: string): Promise<boolean> {
  const prompter = await openPrompter();
  if (prompter === null) throw new UsageError(`${reason}; where it cannot ask, add --yes`);
  return await prompter.confirm(question);
}

async function asked<Value>(answer: Promise<Value>): Promise<Value> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new UsageError('nothing was changed', EXIT.interrupted);
    throw error;
  }
}
