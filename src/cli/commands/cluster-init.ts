import { resolve } from 'node:path';
import { LEDGER_VERSION } from '../../cluster/schema.ts';
import { readSecretReference } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import {
  grantsFor,
  initLedger,
  ROLE_PLACEHOLDER,
  type LedgerMade,
} from '../../library/cluster/init-ledger.ts';
import type { Cluster, OtherAddress } from '../../library/cluster/open-cluster.ts';
import { withCluster } from '../../library/cluster/with-cluster.ts';
import { load } from '../../library/load.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { refuseEmulator } from '../refuse-emulator.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync cluster init`. */
export interface ClusterInitOptions extends GlobalOptions {
  /** Whom the grants are for; `undefined`: a placeholder stands in its place. */
  readonly role: string | undefined;
  /** Where the address is with which the owner of the tables logs in; `undefined`: it is that of the hosts. */
  readonly database: string | undefined;
}

const WORDS: Readonly<Record<LedgerMade, string>> = {
  created: 'was created',
  updated: 'was brought up to date',
  unchanged: 'is up to date',
};

/** `botsync cluster init`: makes the tables of the ledger. Returns the exit code; throws `SyncError`. */
export async function clusterInit(options: ClusterInitOptions): Promise<number> {
  refuseEmulator(options);
  const other = ownersAddress(options);
  const make = async (cluster: Cluster): Promise<{ made: LedgerMade; schema: string }> => ({
    made: await initLedger(cluster),
    schema: cluster.config.schema,
  });
  const { made, schema } = await withCluster(load(options), process.env, make, other);
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
      'Next, once, on the host that had the files until now, if there is one:',
      `  botsync cluster import${alike(options)}`,
      'Then, on every host:',
      `  botsync sync${alike(options)}`,
    ].join('\n'),
  );
  return EXIT.ok;
}

/** Throws `UsageError` where the option says no place: it may hold the address itself, so that its text is not shown. */
function ownersAddress({ database }: ClusterInitOptions): OtherAddress | null {
  if (database === undefined) return null;
  const reading = readSecretReference(database, 'BOTSYNC_OWNER');
  if (reading.kind === 'problem')
    throw new UsageError(
      '--database does not say where the address is; write "env:NAME" or "file:PATH", never the address itself',
    );
  const written = reading.value;
  const reference = written.kind === 'file' ? { ...written, path: resolve(written.path) } : written;
  return { reference, place: '--database' };
}
