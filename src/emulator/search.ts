import { describePassageMeta, type Passage } from './passages.ts';
import type { StoredFile } from './stored-file.ts';

/** What a search asks for. Source: platform-operations.md, Search. */
export interface SearchQuery {
  readonly query: string;
  /** How many passages. */
  readonly limit: number;
  /** How many passages before and after a found one belong to it. */
  readonly contextDepth: number;
  /** Whether what is found in one file is one passage. */
  readonly consolidate: boolean;
  readonly includeBreadcrumb: boolean;
  readonly withContext: boolean;
}

/** A passage that was found. */
export interface Found {
  readonly file: StoredFile;
  readonly score: number;
  readonly content: string;
  readonly meta: object;
  readonly context: readonly object[] | null;
}

interface Hit {
  readonly passage: Passage;
  readonly score: number;
}

/** The passages that a query finds in files, the best first. */
export function search(
  asked: SearchQuery,
  files: Iterable<readonly [file: StoredFile, passages: readonly Passage[]]>,
): Found[] {
  const words = wordsOf(asked.query);
  const found: Found[] = [];
  for (const [file, passages] of files) {
    const hits = passages
      .map((passage) => ({ passage, score: scoreOf(words, passage) }))
      .filter(({ score }) => score > 0);
    if (asked.consolidate) found.push(...consolidate(file, passages, hits, asked));
    else found.push(...hits.map((hit) => describeHit(file, passages, hit, asked)));
  }
  return found.toSorted((left, right) => right.score - left.score).slice(0, asked.limit);
}

/** The share of the words that are in a passage: likeness of letters, where the platform has likeness of meaning. */
function scoreOf(words: readonly string[], { content }: Passage): number {
  const own = new Set(wordsOf(content));
  const shared = words.filter((word) => own.has(word)).length;
  return words.length === 0 ? 0 : Math.round((shared / words.length) * 1000) / 1000;
}

function wordsOf(text: string): string[] {
  return [...new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [])];
}

function describeHit(file: StoredFile, passages: readonly Passage[], hit: Hit, asked: SearchQuery): Found {
  const { passage, score } = hit;
  const around = surroundings(passages, [passage], asked.contextDepth);
  const breadcrumb = asked.includeBreadcrumb ? passage.breadcrumb : [];
  return {
    file,
    score,
    content: [...breadcrumb, ...around.map(({ content }) => content)].join('\n\n'),
    meta: describePassageMeta(passage),
    context: asked.withContext
      ? [
          ...breadcrumb.map((text) => ({ text, type: 'breadcrumb' })),
          ...around.map((one) => describeContext(one, passage)),
        ]
      : null,
  };
}

function describeContext(one: Passage, found: Passage): object {
  const offset = one.position - found.position;
  const type = offset === 0 ? 'current' : offset < 0 ? 'preceding' : 'subsequent';
  return { text: one.content, offset, type };
}

function consolidate(
  file: StoredFile,
  passages: readonly Passage[],
  hits: readonly Hit[],
  asked: SearchQuery,
): Found[] {
  if (hits.length === 0) return [];
  const found = hits.map(({ passage }) => passage);
  const content = surroundings(passages, found, asked.contextDepth).map((one) => one.content);
  const score = Math.max(...hits.map((hit) => hit.score));
  return [{ file, score, content: content.join('\n\n'), meta: { type: 'consolidated' }, context: null }];
}

function surroundings(passages: readonly Passage[], found: readonly Passage[], depth: number): Passage[] {
  return passages.filter(({ position }) => found.some((one) => Math.abs(one.position - position) <= depth));
}
