import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { load, platformName } from '../../run/run-base.ts';
import { findSources } from '../../sync/sources/source.ts';
import { askOthers, commandDaemon } from '../command-daemon.ts';
import { rescanWords, type HostsRescan } from '../../words/asked.ts';
import { placeOf } from '../../words/place.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { locateFile } from '../arguments.ts';
import { print, shown, printJson } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';

export interface RescanOptions extends GlobalOptions {
  /** A file or directory of a source; without it, everything. */
  readonly path: string | undefined;
}

interface RescanAnswer {
  /** `null` while the daemon is starting. */
  readonly rescan: HostsRescan | null;
  /** Why the daemon cannot rescan now. */
  readonly trouble: string | null;
}

/** Both `null`: everything. */
interface Wanted {
  readonly source: string | null;
  readonly path: string | null;
}

const PATIENCE_MS = 10_000;

/** `botsync rescan`: has the running daemon rescan now. Returns the exit code; throws `UsageError`. */
export async function rescan(options: RescanOptions): Promise<number> {
  const loaded = load(options);
  const { config } = loaded;
  const wanted = locate(options, config);
  const { others, isHere } = await askOthers(loaded, {
    kind: 'rescan',
    source: wanted.source,
    terms: { path: wanted.path },
  });
  for (const { host, source } of others) {
    if (options.json) printJson({ asked: 'rescan', source, path: wanted.path, host });
    else print(shown(`${host} was asked: rescan ${placeOf(source, wanted.path ?? '.')}`));
  }
  if (!isHere) return EXIT.ok;
  const query = new URLSearchParams(
    Object.entries(wanted).filter((field): field is [string, string] => field[1] !== null),
  ).toString();
  const answer = await commandDaemon(config.stateFile, {
    target: query === '' ? '/rescan' : `/rescan?${query}`,
    patienceMs: PATIENCE_MS,
    otherwise: `run: botsync sync --once${commandEnd(options)}`,
  });
  return report(answer as RescanAnswer, wanted, options);
}

function report(
  { rescan: asked, trouble }: RescanAnswer,
  { source, path }: Wanted,
  options: RescanOptions,
): number {
  if (trouble !== null) throw new UsageError(trouble, EXIT.incomplete);
  if (asked === null) throw new UsageError('botsync is starting or stopping', EXIT.incomplete);
  const words = shown(rescanWords(asked, source, path));
  if (asked.kind === 'halted')
    throw new UsageError(
      `${words} After checking, run: botsync approve ${source ?? ''}${commandEnd(options)}`,
      EXIT.incomplete,
    );
  if (asked.kind !== 'pass' && asked.kind !== 'path' && asked.kind !== 'passed-on')
    throw new UsageError(words, EXIT.incomplete);
  if (options.json) printJson({ rescan: asked.kind, source, path });
  else print(`${words} Watch it with: botsync status${commandEnd(options)}`);
  return EXIT.ok;
}

function locate(options: RescanOptions, config: Config): Wanted {
  if (options.path === undefined) return { source: null, path: null };
  const directory = resolve(options.path);
  const source = config.sources.find((one) => one.directory === directory);
  // A whole source is rescanned by a pass.
  if (source !== undefined && options.path !== '') return { source: source.name, path: null };
  const { found, path } = locateFile(options.path, findSources(config, platformName(options, config)));
  return { source: found.config.name, path };
}
