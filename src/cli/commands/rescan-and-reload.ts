import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { load, platformName } from '../../run/run-base.ts';
import { findSources } from '../../sync/sources/source.ts';
import { askOthers, commandDaemon, demandReady } from '../command-daemon.ts';
import { rescanWords, type HostsRescan } from '../../words/asked.ts';
import { placeOf } from '../../words/place.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { locateFile } from '../arguments.ts';
import { print, shown, printJson } from '../render/output.ts';
import { UsageError } from '../usage-error.ts';
import { secretPlace } from '../credential-advice.ts';
import type { ReloadOutcome } from '../../run/api.ts';

export interface RescanOptions extends GlobalOptions {
  /** A file or directory of a source; without it, everything. */
  readonly path: string | undefined;
}

/** Both `null`: everything. */
interface Wanted {
  readonly source: string | null;
  readonly path: string | null;
}

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
  const answer = (await commandDaemon(config.stateFile, {
    kind: 'rescan',
    terms: { ...wanted },
    otherwise: `run: botsync sync --once${commandEnd(options)}`,
  })) as { readonly rescan: HostsRescan | null };
  return report(demandReady(answer.rescan), wanted, options);
}

function report(asked: HostsRescan, { source, path }: Wanted, options: RescanOptions): number {
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

/** A reload waits for an earlier one, and for running work to be handed over. */
const PATIENCE_MS = 60_000;

/**
 * `botsync reload`: has the running daemon reload its configuration and secrets. Returns the exit code; throws
 * `UsageError`.
 */
export async function reload(options: GlobalOptions): Promise<number> {
  const { config } = load(options);
  const answer = await commandDaemon(config.stateFile, {
    kind: 'reload',
    patienceMs: PATIENCE_MS,
    otherwise: `start one: botsync sync${commandEnd(options)}`,
  });
  const { problem } = answer as ReloadOutcome;
  if (problem !== null)
    throw new UsageError(
      `not reloaded, the previous configuration stays in use: ${problem}`,
      EXIT.incomplete,
    );
  const { token } = config.platform;
  const stays = token === null || token.kind === 'file' || options.emulator ? null : secretPlace(token);
  if (options.json) printJson({ reloaded: true });
  else if (stays === null) print('The running botsync has reloaded its configuration and secrets.');
  else
    print(
      `The running botsync has reloaded its configuration. Its token comes from ${stays}, which a running process cannot reread: another token needs a restart.`,
    );
  return EXIT.ok;
}
