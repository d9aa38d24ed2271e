import { LEDGER_VERSION } from '../../cluster/schema.ts';
import { EXIT } from '../../domain/exit-code.ts';
import {
  grantsFor,
  initLedger,
  ROLE_PLACEHOLDER,
  type LedgerMade,
} from '../../library/cluster/init-ledger.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load } from '../../library/load.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { refuseEmulator } from '../refuse-emulator.ts';

/** Options of `botsync cluster init`. */
export interface ClusterInitOptions extends GlobalOptions {
  /** Whom the grants are for; `undefined`: a placeholder stands in its place. */
  readonly role: string | undefined;
}

const WORDS: Readonly<Record<LedgerMade, string>> = {
  created: 'was created',
  updated: 'was brought up to date',
  unchanged: 'is up to date',
};

/** `botsync cluster init`: makes the tables of the ledger. Returns the exit code; throws `SyncError`. */
export async function clusterInit(options: ClusterInitOptions): Promise<number> {
  refuseEmulator(options);
  const loaded = load(options);
  const { made, schema } = await withCluster(loaded, process.env, async (cluster) => ({
    made: await initLedger(cluster),
    schema: cluster.config.schema,
  }));
  const grants = grantsFor(schema, options.role ?? null);
  if (options.json) {
    printJson({ ledger: made, schema, version: LEDGER_VERSION, grants });
    return EXIT.ok;
  }
  print(`The ledger ${WORDS[made]} (schema ${shown(schema)}).`);
  print(
    [
      '',
      'Hosts need these rights and no others. If they log in with another role than this one, run as the owner of the tables:',
      ...grants.map((grant) => `  ${shown(grant)}`),
      ...(options.role === undefined
        ? [`${ROLE_PLACEHOLDER} stands for the role of the hosts; --role NAME prints its name.`]
        : []),
      '',
      'Next, once, on the host whose state file has the records:',
      `  botsync cluster import${alike(options)}`,
      'Then, on every host:',
      `  botsync sync${alike(options)}`,
    ].join('\n'),
  );
  return EXIT.ok;
}
