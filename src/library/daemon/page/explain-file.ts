import { join } from 'node:path';
import type { FileCatalog } from '../../../domain/file-catalog.ts';
import { bytesText } from '../../../service/amounts.ts';
import type { FileAnswer } from '../../../page/document.ts';
import { explain } from '../../../sync/plan/explain.ts';
import { explainUnseen, type Explanation } from '../../../sync/plan/explanation.ts';
import { findFile, type LocatedFile } from '../../../sync/sources/find-file.ts';
import { findSources, type FoundSource } from '../../../sync/sources/source.ts';
import { describeExplanation } from '../../../words/explanation.ts';
import { platformName } from '../../load.ts';
import type { RunTarget } from '../../run-target.ts';
import type { DaemonState } from '../answers.ts';

/** The platform is waited for so long, milliseconds: a person looks at a page. */
const PATIENCE_MS = 3000;

/**
 * What `botsync explain` says of a file, and what the platform says of it now. Throws `StateFileError`.
 *
 * @param written - an absolute path, or a source's name and the path in it.
 * @param catalog - what the platform has; `null`: it cannot be asked.
 */
export async function explainForPage(
  written: string,
  target: RunTarget,
  { loaded, running, state }: Pick<DaemonState, 'loaded' | 'running' | 'state'>,
  catalog: Pick<FileCatalog, 'get'> | null,
): Promise<FileAnswer> {
  if (state === null) return { kind: 'unknown', reason: 'The state file is not open.' };
  const { config } = loaded;
  const name = platformName(target, config);
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
  const isAsked = config.platform.operations !== 'specified';
  const lines = describeExplanation(explanation, isAsked);
  return { kind: 'explained', lines: [...lines, ...(await askPlatform(explanation, catalog))] };
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

async function askPlatform(
  { botId, key, record }: Explanation,
  catalog: Pick<FileCatalog, 'get'> | null,
): Promise<string[]> {
  if (catalog === null || record === null) return [];
  const answer = await catalog.get(botId, key, AbortSignal.timeout(PATIENCE_MS));
  if (answer.kind === 'failed') return [`Now:     the platform did not answer (${answer.failure.message})`];
  const { status, sizeBytes, contentType, expiresAtMs, failedReason } = answer.value;
  const facts = [
    (status ?? 'status unknown').replaceAll('_', ' '),
    ...(failedReason === null ? [] : [failedReason]),
    ...(sizeBytes === null ? [] : [bytesText(sizeBytes)]),
    ...(contentType === null ? [] : [contentType]),
    expiresAtMs === null ? 'never expires' : `expires at ${new Date(expiresAtMs).toISOString()}`,
  ];
  return [`Now:     the platform reports ${facts.join(', ')}`];
}
