import { EXIT } from '../../domain/exit-code.ts';
import { releaseUnits } from '../../library/cluster/release-units.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load } from '../../library/load.ts';
import type { GlobalOptions } from '../global-options.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';

/** Options of `botsync cluster release`. */
export interface ClusterReleaseOptions extends GlobalOptions {
  /** One unit; without it, all that this host holds. */
  readonly unit: string | undefined;
}

/** `botsync cluster release`: has another host take a unit. Returns the exit code; throws `SyncError`. */
export async function clusterRelease(options: ClusterReleaseOptions): Promise<number> {
  refuseEmulator(options);
  const released = await withCluster(load(options), process.env, (cluster) =>
    releaseUnits(cluster, options.unit ?? null),
  );
  for (const { unit, from, to } of released) {
    if (options.json) printJson({ unit, from, to });
    else
      print(
        shown(`${unit}: ${from} let go of it; ${to === null ? 'nobody holds it now' : `${to} has it now`}`),
      );
  }
  return EXIT.ok;
}
