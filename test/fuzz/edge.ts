import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SEED } from '../seed.ts';

/** A place where something from outside comes in. Inputs can be written as JSON. */
export interface Edge<Input> {
  /** Also the name of its directory below `corpus/`. */
  readonly name: string;
  readonly inputs: fc.Arbitrary<Input>;
  /** Throws, or rejects, when the input does something it must not. */
  readonly check: (input: Input) => void | Promise<void>;
}

/** Generated inputs an edge: few with every change; `npm run test:fuzz` asks for many. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? '500');

/** Longer than any input may take, the machine being busy with other things as well. */
const LONGEST_MS = 20_000;

/** Two hours for a hundred thousand. */
const TIMEOUT_MS = 60_000 + RUNS * 72;

const CORPUS = join(import.meta.dirname, 'corpus');

/**
 * Registers the tests of an edge: the cases of its corpus, then generated ones. A case that fails is written into the
 * corpus, to be replayed from then on.
 */
export function fuzz<Input>(edge: Edge<Input>): void {
  describe(edge.name, () => {
    test.each(corpusOf(edge.name))('%s', (file) => inTime(edge, read(edge.name, file) as Input));

    test(
      `${RUNS.toLocaleString('en')} generated inputs (seed ${SEED})`,
      async () => {
        const property = fc.asyncProperty(edge.inputs, (input) => inTime(edge, input));
        const details = await fc.check(property, { numRuns: RUNS, seed: SEED });
        if (details.counterexample === null) return;
        keep(edge.name, details.counterexample[0]);
        throw new Error(fc.defaultReportMessage(details), { cause: details.errorInstance });
      },
      TIMEOUT_MS,
    );
  });
}

async function inTime<Input>(edge: Edge<Input>, input: Input): Promise<void> {
  const begunMs = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      reject(new Error('it hangs'));
    }, LONGEST_MS);
  });
  try {
    await Promise.race([edge.check(input), late]);
  } finally {
    clearTimeout(timer);
  }
  // What never lets a timer run is noticed when it is over.
  expect(performance.now() - begunMs).toBeLessThan(LONGEST_MS);
}

function corpusOf(name: string): string[] {
  const directory = join(CORPUS, name);
  return existsSync(directory) ? readdirSync(directory).sort() : [];
}

function read(name: string, file: string): unknown {
  return JSON.parse(readFileSync(join(CORPUS, name, file), 'utf8'));
}

function keep(name: string, input: unknown): void {
  const text = `${JSON.stringify(input, null, 2)}\n`;
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 12);
  mkdirSync(join(CORPUS, name), { recursive: true });
  writeFileSync(join(CORPUS, name, `found-${digest}.json`), text);
}

/** Holds a text against what people may be shown: no control characters, no trace of where code stood, bearable length. */
export function expectPresentable(text: string): void {
  expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u);
  expect(text).not.toMatch(/\n {4}at |\.[jt]s:\d+:\d+/u);
  expect(text.length).toBeLessThan(2_000);
}

/** The words of a text, without the white space between them. */
export function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/u);
}

/** Texts made of pieces: what a format gives meaning to comes up often, and next to anything else. */
export function pieces(words: readonly string[], most: number): fc.Arbitrary<string> {
  const piece = fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...words) },
    { weight: 1, arbitrary: fc.string({ maxLength: 4, unit: 'binary' }) },
  );
  return fc.array(piece, { maxLength: most }).map((parts) => parts.join(''));
}

/**
 * Values of JSON, built of leaves: at most so many levels deep, with so many items in a list, and so many fields with
 * some of the names in an object.
 */
export function jsonValues(
  leaf: fc.Arbitrary<unknown>,
  names: readonly string[],
  most: { readonly depth: number; readonly items: number; readonly fields: number },
): fc.Arbitrary<unknown> {
  return fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: most.depth, withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: most.items }),
      fc.dictionary(fc.constantFrom(...names), tie('value'), {
        maxKeys: most.fields,
        noNullPrototype: true,
      }),
    ),
  })).value;
}
