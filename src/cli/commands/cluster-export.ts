import { resolve } from 'node:path';
import { EXIT } from '../../domain/exit-code.ts';
import { exportState } from '../../library/cluster/export-state.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load, platformName } from '../../library/load.ts';
import { counted } from '../../words/quantity.ts';
import type { GlobalOptions } from '../global-options.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';

/** Options of `botsync cluster export`. */
export interface ClusterExportOptions extends GlobalOptions {
  readonly to: string;
}

/** `botsync cluster export`: what the ledger has, as a state file. Returns the exit code; throws `SyncError`. */
export async function clusterExport(options: ClusterExportOptions): Promise<number> {
  refuseEmulator(options);
  const loaded = load(options);
  const { config } = loaded;
  const to = resolve(options.to);
  const run = { config, platformName: platformName(options, config), to };
  const { units, files } = await withCluster(loaded, process.env, (cluster) => exportState(cluster, run));
  if (options.json) printJson({ stateFile: to, units, files });
  else
    print(
      [
        `${shown(to)}: ${counted(files, 'file')} of ${counted(units.length, 'unit')} and of the sources that are pinned to this host.`,
        'To continue with one host, remove "cluster" from its configuration and name this file as "stateFile". The ledger was left as it is: no other host may be started with it any more.',
      ].join('\n'),
    );
  return EXIT.ok;
}
