import { EXIT } from '../../domain/exit-code.ts';
import { importState, type Imported, type ImportedUnit } from '../../library/cluster/import-state.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load, platformName } from '../../library/load.ts';
import { counted } from '../../words/quantity.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { renderTable } from '../render/table.ts';

/** Options of `botsync cluster import`. */
export interface ClusterImportOptions extends GlobalOptions {
  readonly dryRun: boolean;
}

/** `botsync cluster import`: this host's records, into the ledger. Returns the exit code; throws `SyncError`. */
export async function clusterImport(options: ClusterImportOptions): Promise<number> {
  refuseEmulator(options);
  const loaded = load(options);
  const { config } = loaded;
  const run = {
    config,
    platformName: platformName(options, config),
    isDryRun: options.dryRun,
    nowMs: Date.now(),
  };
  const imported = await withCluster(loaded, process.env, (cluster) => importState(cluster, run));
  if (options.json) printJson(forPrograms(imported, options.dryRun, config.stateFile));
  else print(forPeople(imported, options, config.stateFile).join('\n'));
  return EXIT.ok;
}

function forPeople(
  { units, filesLeft, keptAs, hasRest }: Imported,
  options: ClusterImportOptions,
  stateFile: string,
): string[] {
  const rows = units.flatMap(tableRows);
  const table = rows.length === 0 ? [] : renderTable(['Unit', 'State', 'State file', 'Ledger'], rows, [2, 3]);
  const left =
    filesLeft === 0
      ? []
      : [
          `${counted(filesLeft, 'file')} ${options.dryRun ? 'would stay' : 'stay'} in the state file of this host: of sources that are pinned, or that the configuration does not have.`,
        ];
  const first = `${counted(units.length, 'unit')} ${options.dryRun ? 'would be imported.' : units.length === 1 ? 'is in the ledger.' : 'are in the ledger.'}`;
  if (units.length === 0)
    return ['The state file has no files of sources that hosts share: there is nothing to import.'];
  if (keptAs === null) return [...table, first, ...left, 'Nothing was written.'];
  return [
    ...table,
    first,
    ...left,
    `The former state file is kept as ${shown(keptAs)}.${hasRest ? ` What stays on this host is in ${shown(stateFile)}.` : ''}`,
    `Next, on every host: botsync sync${alike(options)}`,
  ];
}

function tableRows({ name, inStateFile, inLedger }: ImportedUnit): string[][] {
  const states = [...new Set([...inStateFile.keys(), ...(inLedger?.keys() ?? [])])].sort();
  const count = (counts: ReadonlyMap<string, number>, state: string): string =>
    (counts.get(state) ?? 0).toLocaleString('en');
  return states.map((state) => [
    name,
    state,
    count(inStateFile, state),
    inLedger === null ? '' : count(inLedger, state),
  ]);
}

function forPrograms(
  { units, filesLeft, keptAs, hasRest }: Imported,
  dryRun: boolean,
  stateFile: string,
): object {
  return {
    dryRun,
    units: units.map(({ name, inStateFile, inLedger, wasThere }) => ({
      name,
      files: Object.fromEntries(inStateFile),
      ledger: inLedger && Object.fromEntries(inLedger),
      wasThere,
    })),
    filesLeft,
    keptAs,
    stateFile: hasRest ? stateFile : null,
  };
}
