import type { Argv } from 'yargs';
import type { GlobalArguments } from './global-options.ts';

/** Adds the commands on a cluster of hosts. `done` takes their exit code. */
export function addClusterCommands(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser.command(
    'cluster',
    'Several hosts that sync together',
    (cluster) =>
      cluster
        .command(
          'init',
          'Make the tables of the ledger, or bring them up to date',
          (command) =>
            command
              .option('role', {
                type: 'string',
                requiresArg: true,
                description: 'The role for which the grants are printed',
              })
              .option('database', {
                type: 'string',
                requiresArg: true,
                description:
                  'Where the address with the role of the owner is: env:NAME or file:PATH (default: cluster.database)',
              })
              .example('$0 cluster init --role botsync_host', 'With grants that can be run as they are'),
          async (options) => {
            const { clusterInit } = await import('./commands/cluster-init.ts');
            done(await clusterInit(options));
          },
        )
        .command(
          'import',
          "Move this host's records from the state file to the ledger",
          (command) =>
            command
              .option('dry-run', {
                type: 'boolean',
                default: false,
                description: 'Print what would be imported; write nothing',
              })
              .example('$0 cluster import --dry-run', 'Check before importing'),
          async (options) => {
            const { clusterImport } = await import('./commands/cluster-import.ts');
            done(await clusterImport(options));
          },
        )
        .command(
          'export',
          'Write the records of the ledger to a new state file',
          (command) =>
            command
              .option('to', {
                type: 'string',
                demandOption: true,
                requiresArg: true,
                description: 'The state file that is written; a file that exists is never overwritten',
              })
              .example('$0 cluster export --to .botsync/alone.db', 'To continue with one host'),
          async (options) => {
            const { clusterExport } = await import('./commands/cluster-export.ts');
            done(await clusterExport(options));
          },
        )
        .command(
          'status',
          'Show hosts, units, and which host holds which unit',
          (command) => command.example('$0 cluster status', 'Who is there, and who syncs what'),
          async (options) => {
            const { clusterStatus } = await import('./commands/cluster-status.ts');
            done(await clusterStatus(options));
          },
        )
        .command(
          'release [unit]',
          'Move a unit to another host, or all that this host holds',
          (command) =>
            command
              .positional('unit', { type: 'string', description: 'The name of a unit' })
              .example('$0 cluster release', 'Before this host is taken down'),
          async (options) => {
            const { clusterRelease } = await import('./commands/cluster-release.ts');
            done(await clusterRelease(options));
          },
        )
        .command(
          'forget <host>',
          'Remove a host that is gone for good from the list',
          (command) =>
            command
              .positional('host', {
                type: 'string',
                demandOption: true,
                description: 'The name of a host that was lost, and will not come back',
              })
              .example('$0 cluster forget web3', 'After the machine web3 was lost'),
          async (options) => {
            const { clusterForget } = await import('./commands/cluster-forget.ts');
            done(await clusterForget(options));
          },
        )
        .demandCommand(1, 1, 'Name a subcommand: init, import, export, status, release or forget.'),
    () => undefined,
  );
}
