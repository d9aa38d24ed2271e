import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { RelativePath } from '../../domain/brands.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { isWithin } from '../../domain/within.ts';
import { explain as explainFile, type Explanation } from '../../sync/plan/explain.ts';
import { findSources, type FoundSource, type Source } from '../../sync/sources/source.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../load.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { withStateFile } from '../read-state-file.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync explain`. */
export interface ExplainOptions extends GlobalOptions {
  readonly path: string;
}

/** `botsync explain <path>`: one file, from its key to what a pass would do. Returns the exit code; throws `UsageError`. */
export async function explain(options: ExplainOptions): Promise<number> {
  const { config } = load(options);
  const sources = findSources(config, platformName(options, config));
  const { source, path } = locate(options.path, sources);
  const explanation = await withStateFile(config.stateFile, ({ reader }) =>
    explainFile(source, path, { config, sources, state: reader, nowMs: Date.now() }),
  );
  if (options.json) printJson(explanation);
  else print(describe(explanation).join('\n'));
  return EXIT.ok;
}

/** The source whose directory holds a path, and the path within it; the innermost where one lies in another. */
function locate(written: string, sources: readonly FoundSource[]): { source: Source; path: RelativePath } {
  const absolute = resolve(written);
  const candidates = sources
    .flatMap((one) => (one.kind === 'found' ? [one.source] : []))
    .flatMap((source) =>
      [absolute, realPathOf(absolute)]
        .flatMap((file) => [source.root, source.realRoot].map((root) => ({ file, root })))
        .filter(({ file, root }) => file !== root && isWithin(root, file))
        .map(({ file, root }) => ({
          source,
          path: file.slice(root.endsWith('/') ? root.length : root.length + 1) as RelativePath,
        })),
    )
    .sort((a, b) => a.path.length - b.path.length);
  const [found] = candidates;
  if (found !== undefined) return found;
  const isSource = sources.some(({ config }) => config.directory === absolute);
  if (written === '' || isSource)
    throw new UsageError(
      `${written === '' ? 'an empty path' : written} is no file of a source; name one in it`,
    );
  const directories = sources.map(({ config }) => `  ${config.name}: ${config.directory}`).join('\n');
  throw new UsageError(`${written} lies in no source; the sources are:\n${directories}`);
}

/** With links in its directory resolved; the last part stays, as it may be a link or not be there. */
function realPathOf(path: string): string {
  try {
    return join(realpathSync.native(dirname(path)), basename(path));
  } catch {
    return path;
  }
}

function describe({
  source,
  path,
  key,
  botId,
  rules,
  upsert,
  record,
  action,
  reason,
}: Explanation): string[] {
  const lines = [
    `File:    ${shown(`${source}:${path}`)}`,
    `Key:     ${shown(key)} (bot ${shown(botId)})`,
    `Rules:   ${rules.length === 0 ? 'none matches' : rules.map(({ rule, match }) => `rules[${rule}] (${match.join(', ')})`).join(', ')}`,
  ];
  if (record === null) lines.push('Record:  none');
  else {
    lines.push(`Record:  ${record.state}, since ${record.changedAt}`);
    if (record.sha256 !== null) lines.push(`         content ${record.sha256} (SHA-256)`);
    if (record.expiresAt !== null) lines.push(`         expires at ${record.expiresAt}`);
    if (record.failure !== null) lines.push(`         ${shown(record.failure)}`);
  }
  if (upsert !== null) {
    const [first = '', ...rest] = JSON.stringify(upsert, null, 2).split('\n');
    lines.push(`Upsert:  ${first}`, ...rest.map((line) => `         ${shown(line)}`));
  }
  lines.push(`A pass:  ${describeAction(action)} (${shown(reason)})`);
  return lines;
}

function describeAction(action: Explanation['action']): string {
  switch (action) {
    case 'upload':
      return 'uploads it';
    case 'renew':
      return 'sends it again before it expires';
    case 'verify':
      return 'looks whether it changed';
    case 'none':
      return 'does nothing';
    case 'skip':
      return 'leaves it out';
    case 'refuse':
      return 'refuses it';
    case 'problem':
      return 'reports it as a problem';
    case 'remove':
      return 'removes it from the platform';
    case 'keep':
      return 'keeps it on the platform';
  }
}
