import { EXIT } from '../../domain/exit-code.ts';
import { forgetHost } from '../../library/cluster/forget-host.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load } from '../../library/load.ts';
import { describeSpan } from '../../words/quantity.ts';
import type { GlobalOptions } from '../global-options.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { print, printError, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';

/** Options of `botsync cluster forget`. */
export interface ClusterForgetOptions extends GlobalOptions {
  readonly host: string;
}

/** `botsync cluster forget`: removes a host that is gone for good from the list. Returns the exit code; throws `SyncError`. */
export async function clusterForget(options: ClusterForgetOptions): Promise<number> {
  refuseEmulator(options);
  const { host } = options;
  await withCluster(load(options), process.env, (cluster) =>
    forgetHost(cluster, host, (ms) => {
      printError(`Waiting ${describeSpan(ms)} for a sign of life of ${shown(host)} …`);
    }),
  );
  if (options.json) printJson({ host });
  else print(shown(`${host} was removed from the list of hosts`));
  return EXIT.ok;
}
