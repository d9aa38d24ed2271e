import prettyBytes from 'pretty-bytes';
import { describeHalt } from '../../words/halt.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { fileKey } from '../../domain/key.ts';
import { load, platformName } from '../../run/run-base.ts';
import { openSyncFor } from '../../run/open-sync.ts';
import { exitCodeOf } from '../../run/pass-outcome.ts';
import { withRecords } from '../../run/read-records.ts';
import { countText } from '../../service/amounts.ts';
import { findHolder } from '../../service/process-lock.ts';
import type { FileRecord } from '../../domain/record.ts';
import { digestOfKept, keptFiles } from '../../sync/sources/recorded-files.ts';
import { listFiles } from '../../sync/plan/list-files.ts';
import { findSources, type Source } from '../../sync/sources/source.ts';
import { pruneWords, type HostsPrune } from '../../words/asked.ts';
import { placeOf } from '../../words/place.ts';
import { askOthers, commandDaemon, demandReady } from '../command-daemon.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { confirm } from '../prompter.ts';
import { readGlob } from '../arguments.ts';
import { print, printError, shown, printJson } from '../render/output.ts';
import { PassView } from '../render/pass-view.ts';
import { withStopSignals } from '../signals.ts';
import { UsageError } from '../usage-error.ts';

export interface PruneOptions extends GlobalOptions {
  readonly glob: string | undefined;
  readonly dryRun: boolean;
  readonly yes: boolean;
}

interface KeptOfSource {
  readonly source: Source;
  readonly files: readonly FileRecord[];
}

/** Files that are listed before the question. */
const NAMED = 10;

/**
 * `botsync prune --kept`: lists the kept files, asks, and has the running daemon or a pass remove them. Returns the
 * exit code; throws `UsageError` and `SyncError`.
 */
export async function prune(options: PruneOptions): Promise<number> {
  const loaded = load(options);
  if (loaded.config.platform.operations === 'specified')
    throw new UsageError(
      'platform.operations is "specified": the platform cannot be asked whether a file is still the one that was sent, so nothing is removed; remove it, or write "auto"',
      EXIT.incomplete,
    );
  const all = await findKept(loaded, options);
  const files = all.flatMap(({ files: own }) => own);
  if (options.dryRun)
    for (const one of all) for (const file of one.files) show(file, one.source, options.json);
  if (options.dryRun && !options.json) print(`${countText(files.length, 'file')} would be removed.`);
  if (options.dryRun) return EXIT.ok;
  if (files.length === 0) {
    if (options.glob !== undefined)
      printError(`no kept file matches ${shown(options.glob)}; it is compared with paths within a source`);
    else if (!options.json) print('No kept file can be removed.');
    return EXIT.ok;
  }
  if (!options.yes && !(await isConfirmed(all, files.length))) {
    printError('Nothing was removed: you did not confirm it.');
    return EXIT.incomplete;
  }
  const { cluster, stateFile } = loaded.config;
  if (cluster === null && findHolder(stateFile) === null) return await pruneByPass(files, options);
  let exitCode: number = EXIT.ok;
  for (const one of all) {
    const name = one.source.config.name;
    const asked = await askForPrune(one, loaded, options);
    if (options.json) printJson({ source: name, ...asked });
    else print(shown(pruneWords(asked, name)));
    if (asked.kind !== 'pruning' && asked.kind !== 'passed-on') exitCode = EXIT.incomplete;
  }
  return exitCode;
}

/** Finds the files to prune, and prints how many kept files may not be pruned. */
async function findKept(loaded: LoadedConfig, options: PruneOptions): Promise<KeptOfSource[]> {
  const { config } = loaded;
  const name = platformName(options, config);
  const matches = options.glob === undefined ? () => true : readGlob('prune', options.glob);
  return await withRecords({ loaded, platformName: name, env: process.env }, ({ reader }) => {
    const sources = findSources(config, name);
    const kept = sources.flatMap((found): KeptOfSource[] => {
      if (found.kind === 'missing') {
        printError(shown(`${found.config.name}: ${describeHalt(found.halt)}; nothing of it can be removed`));
        return [];
      }
      const files = [...keptFiles(found.source, reader, matches)];
      return files.length === 0 ? [] : [{ source: found.source, files }];
    });
    let left = -kept.reduce((sum, { files }) => sum + files.length, 0);
    const nowMs = Date.now() + reader.platformAheadMs();
    for (const { platform, place } of listFiles({
      config,
      platformName: name,
      sources,
      state: reader,
      nowMs,
    }))
      if (platform === 'kept' && matches(place.path)) left += 1;
    if (left > 0)
      printError(
        `${countText(left, 'kept file')} will stay: in the directory again, or at a bot that the configuration no longer names`,
      );
    return kept;
  });
}

function show(file: FileRecord, source: Source, json: boolean): void {
  const { path, key, sizeBytes: bytes } = file;
  const { name } = source.config;
  if (json) printJson({ kind: 'prune', source: name, path, key, bytes });
  else print(lineOf(file, source));
}

function lineOf({ path, key, sizeBytes }: FileRecord, { config }: Source): string {
  const ownKey = fileKey(config.keyPrefix, path);
  const about = [prettyBytes(sizeBytes), ...(key === ownKey ? [] : [`key ${key}`])].join('; ');
  return `${shown(placeOf(config.name, path))}  (${shown(about)})`;
}

async function isConfirmed(all: readonly KeptOfSource[], count: number): Promise<boolean> {
  const lines = all.flatMap(({ source, files }) => files.map((file) => lineOf(file, source)));
  printError(
    [
      `${countText(count, 'file')} will be removed from the platform:`,
      ...lines.slice(0, NAMED).map((line) => `  ${line}`),
      ...(count > NAMED ? [`  … and ${(count - NAMED).toLocaleString('en')} more; --dry-run lists all`] : []),
    ].join('\n'),
  );
  return await confirm('prune asks before it removes files', 'Remove these files from the platform?');
}

/** Without a daemon: a pass removes the files, after its checks. */
async function pruneByPass(files: readonly FileRecord[], options: PruneOptions): Promise<number> {
  const { config, emulator } = options;
  const idOf = ({ source, key }: { source: string; key: string }): string => JSON.stringify([source, key]);
  const wanted = new Set(files.map(idOf));
  const view = new PassView(options);
  const sync = openSyncFor({ config, emulator, log: view.log }, [view.listener]);
  return await withStopSignals(view, async ({ stop }) => {
    const { outcome } = await sync.pass({
      isPruned: (file) => wanted.has(idOf(file)),
      signal: stop,
      howToApprove: `run: botsync sync --once --allow-removals${commandEnd(options)}`,
    });
    return exitCodeOf(outcome);
  });
}

async function askForPrune(
  { source, files }: KeptOfSource,
  loaded: LoadedConfig,
  { glob }: PruneOptions,
): Promise<HostsPrune> {
  const { name } = source.config;
  const digest = digestOfKept(files);
  const terms = { glob: glob ?? null, digest };
  const { others } = await askOthers(loaded, { kind: 'prune', source: name, terms });
  const [other] = others;
  if (other !== undefined) return { kind: 'passed-on', host: other.host };
  const { prune: asked } = (await commandDaemon(loaded.config.stateFile, {
    kind: 'prune',
    terms: { source: name, ...terms },
    otherwise: 'another command uses its state file: run this again when that has ended',
  })) as { readonly prune: HostsPrune | null };
  return demandReady(asked);
}
