import { join } from 'node:path';
import type { FileAnswer } from '../../../page/file.ts';
import { explain } from '../../../sync/plan/explain.ts';
import { explainUnseen } from '../../../sync/plan/explanation.ts';
import { findFile, type LocatedFile } from '../../../sync/sources/find-file.ts';
import { findSources, targetOf, type FoundSource } from '../../../sync/sources/source.ts';
import { platformName, type RunTarget } from '../../run-base.ts';
import type { DaemonState } from '../daemon-state.ts';
import type { FileKey } from '../../../domain/key.ts';
import type { FileCatalog, CatalogFile } from '../../../domain/file-catalog.ts';
import { bytesText } from '../../../service/amounts.ts';

/**
 * Explains a file as `botsync explain` does, with its id and the platform's current answer. Throws `StateFileError`.
 *
 * @param written - an absolute path, or a source's name and the path in it.
 * @param ask - asks the platform about a key of a bot and returns a line; `null`: the platform is not asked.
 */
export async function explainForPage(
  written: string,
  run: RunTarget,
  { loaded, running, state }: Pick<DaemonState, 'loaded' | 'running' | 'state'>,
  ask: ((botId: string, key: string) => Promise<string> | string) | null,
): Promise<FileAnswer> {
  if (state === null) return { kind: 'unknown', reason: 'The state file is not open.' };
  const { config } = loaded;
  const name = platformName(run, config);
  const sources = findSources(config, name);
  const located = locate(written, sources);
  if (located === null) {
    const names = sources.map((one) => `${one.config.name}/…`).join(', ');
    return { kind: 'unknown', reason: `This is not a file of a source. The sources are: ${names}` };
  }
  const { found, path } = located;
  const daemon = running.find(({ config: { sources: own } }) =>
    own.some(({ name: one }) => one === found.config.name),
  );
  const known = daemon?.state ?? state;
  const explanation =
    found.kind === 'missing'
      ? explainUnseen(found, path, { config, state: known, platformName: name })
      : explain(found.source, path, { config, sources, state: known, nowMs: Date.now() });
  const target = known.targetId(targetOf(config, found.config, name));
  const { botId, key, record } = explanation;
  return {
    ...{ kind: 'explained', explanation },
    file: join(found.config.directory, path),
    fileId: record === null ? null : (known.find({ target, key: key as FileKey })?.remoteId ?? null),
    isAsked: config.platform.operations !== 'specified',
    now: ask === null || record === null ? null : await ask(botId, key),
  };
}

function locate(written: string, sources: readonly FoundSource[]): LocatedFile | null {
  if (written.startsWith('/')) return findFile(join(written), sources);
  const named = sources
    .filter(({ config }) => written.startsWith(`${config.name}/`))
    .map(({ config }) => ({ config, path: written.slice(config.name.length + 1) }));
  for (const { config, path } of named) {
    const located = findFile(join(config.directory, path), sources);
    if (located !== null) return located;
  }
  return null;
}

/** Timeout for an answer of the platform, milliseconds: a person waits for it. */
const PATIENCE_MS = 3000;

/** Time for which an answer is reused, milliseconds. */
const KEPT_MS = 10_000;

/** Maximum number of concurrent questions. */
const MOST_OPEN = 2;

/** Asks the platform about files that people view, rarely enough not to delay uploads. */
export class FileQuestions {
  readonly #now: () => number;
  /** By bot and key, oldest first. */
  readonly #asked = new Map<string, { readonly atMs: number; readonly answer: Promise<string> }>();
  #open = 0;

  /** @param now - milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns the platform's answer as a line of text, or the reason why it was not asked.
   *
   * @param isSending - files are being sent, so the platform is not asked.
   */
  ask(
    botId: string,
    key: string,
    catalog: Pick<FileCatalog, 'get'>,
    isSending: boolean,
  ): Promise<string> | string {
    const identity = `${botId}\n${key}`;
    const now = this.#now();
    for (const [old, { atMs }] of this.#asked) {
      if (now - atMs < KEPT_MS) break;
      this.#asked.delete(old);
    }
    const known = this.#asked.get(identity);
    if (known !== undefined) return known.answer;
    if (isSending) return 'the platform is not asked while files are being sent';
    if (this.#open === MOST_OPEN) return 'the platform is being asked about other files; try again';
    this.#open += 1;
    const answer = question(botId, key, catalog).finally(() => {
      this.#open -= 1;
    });
    this.#asked.set(identity, { atMs: now, answer });
    return answer;
  }
}

async function question(botId: string, key: string, catalog: Pick<FileCatalog, 'get'>): Promise<string> {
  const answer = await catalog.get(botId, key, AbortSignal.timeout(PATIENCE_MS));
  return answer.kind === 'failed'
    ? `the platform did not answer (${answer.failure.message})`
    : `the platform reports ${describe(answer.value)}`;
}
function describe({ status, sizeBytes, contentType, expiresAtMs, failedReason }: CatalogFile): string {
  return [
    (status ?? 'status unknown').replaceAll('_', ' '),
    ...(failedReason === null ? [] : [failedReason]),
    ...(sizeBytes === null ? [] : [bytesText(sizeBytes)]),
    ...(contentType === null ? [] : [contentType]),
    expiresAtMs === null ? 'never expires' : `expires at ${new Date(expiresAtMs).toISOString()}`,
  ].join(', ');
}
