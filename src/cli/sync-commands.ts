import type { Argv } from 'yargs';
import { flag, text, type GlobalArguments, type RunCommand } from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Adds the commands on sources and records. */
export function addSyncCommands(parser: Argv<GlobalArguments>, run: RunCommand): Argv<GlobalArguments> {
  return parser
    .command(
      'sync',
      'Keep the platform up to date with the sources',
      (command) =>
        command
          .option('once', flag('One full pass, then exit'))
          .option('dry-run', flag('Print what a pass would do; send and write nothing'))
          .option('force', {
            type: 'string',
            description:
              'Send files again whatever the records say: those that match a pattern, or all without one',
          })
          .option('allow-removals', flag('Make removals that a guard would halt, in this run only'))
          .option('usage', flag('Show quotas, and what this run would add'))
          .option('open', flag('Show the page of the service in a browser, and its address in the log'))
          .option(
            'wait',
            text(
              "How long a pass waits for the platform's confirmation, such as 30s (default: confirm.wait)",
            ),
          )
          .option('no-wait', flag('Do not wait for the confirmation; the next pass checks it'))
          .check(({ once, dryRun, force, allowRemovals, wait, noWait, usage, open }) => {
            if (once && dryRun) throw new UsageError('--once and --dry-run: use only one of them');
            if (allowRemovals && !once)
              throw new UsageError('--allow-removals needs --once; for the service use botsync approve');
            if (force !== undefined && !once && !dryRun)
              throw new UsageError('--force needs --once or --dry-run');
            if ((wait !== undefined || noWait) && !once)
              throw new UsageError('--wait and --no-wait need --once');
            if (wait !== undefined && noWait)
              throw new UsageError('--wait and --no-wait: use only one of them');
            if (open && (once || dryRun))
              throw new UsageError('--open is for the service; use it without --once and --dry-run');
            if (usage && !once && !dryRun) throw new UsageError('--usage needs --once or --dry-run');
            return true;
          })
          .example('$0 sync', 'Run as a service: sync changes until a signal ends it')
          .example('$0 sync --once --emulator', 'Try a configuration without the platform')
          .example("$0 sync --once --force 'reports/**'", 'Send some files again'),
      run(async () => (await import('./commands/sync.ts')).sync),
    )
    .command(
      'approve [source]',
      'Show what a halt holds back and, after asking, let the service continue, once',
      (command) =>
        command
          .positional('source', {
            type: 'string',
            description: 'The name of a source; without it, all that are halted',
          })
          .option('yes', { ...flag('Approve without asking'), alias: 'y' })
          .example('$0 approve docs', 'Let the source docs continue, once'),
      run(async () => (await import('./commands/approve.ts')).approve),
    )
    .command(
      'rescan [path]',
      'Make the running service check again now, and retry what failed',
      (command) =>
        command
          .positional('path', {
            type: 'string',
            description: 'A file or directory of a source; without it, everything',
          })
          .example('$0 rescan', 'Check everything now instead of at the next rescan')
          .example('$0 rescan docs/prices.md', 'Retry a failed file'),
      run(async () => (await import('./commands/rescan-and-reload.ts')).rescan),
    )
    .command(
      'pause',
      'Make the running service hold all changes back until a time, or until botsync resume',
      (command) =>
        command
          .option('for', text('How long, such as 2h or 30m; without it, until botsync resume'))
          .example('$0 pause --for 2h', 'During a migration of the bot'),
      run(async () => (await import('./commands/pause-and-resume.ts')).pause),
    )
    .command(
      'resume',
      'End a pause, and send what it held back',
      (command) => command.example('$0 resume', 'Before the time of the pause is over'),
      run(async () => (await import('./commands/pause-and-resume.ts')).resume),
    )
    .command(
      'reload',
      'Make the running service reload its configuration and secrets',
      (command) => command.example('$0 reload', 'After a change, where service.reloadOnChange is off'),
      run(async () => (await import('./commands/rescan-and-reload.ts')).reload),
    )
    .command(
      'status',
      'What is in sync, what is not, and what expires next',
      (command) =>
        command
          .option('usage', flag('Also show quotas'))
          .option('watch', {
            alias: 'w',
            type: 'string',
            description:
              'Keep showing the status until q or Ctrl-C; asks at an interval such as 10s (default: 2s)',
          })
          .check(({ usage, watch }) => {
            if (usage && watch !== undefined)
              throw new UsageError('--usage and --watch: use only one of them');
            return true;
          })
          .example('$0 status', 'State and problems')
          .example('$0 status --watch', 'Follow what a service does'),
      run(async () => (await import('./commands/status.ts')).status),
    )
    .command(
      'history [path]',
      'What was done in the last hours or days, or with one file',
      (command) =>
        command
          .positional('path', { type: 'string', description: 'A file of a source' })
          .option(
            'since',
            text('How far back, such as 12h or 7d, up to 30 days (default: 24h; for a file 30d)'),
          )
          .example('$0 history --since 7d', 'The last week, day by day')
          .example('$0 history docs/prices.md', 'When a file was sent and confirmed, and why'),
      run(async () => (await import('./commands/history.ts')).history),
    )
    .command(
      'ls [glob]',
      'List files with their state here and on the platform',
      (command) =>
        command
          .positional('glob', {
            type: 'string',
            description: 'A directory, or a pattern: only files below it, or whose path matches',
          })
          .option('kept', flag('Files that were deleted here and kept on the platform'))
          .option('failed', flag('Files that are not in sync'))
          .option('unindexed', flag('Files that are not known to be searchable'))
          .option(
            'orphans',
            flag(
              'Files that botsync sent and that are neither here nor recorded; lists the files of the bots',
            ),
          )
          .option('to-remove', flag('Files to be removed, or whose removal a halt holds back'))
          .example('$0 ls --failed', 'What is not in sync')
          .example('$0 ls docs/reports', 'The files of one directory')
          .example('$0 ls --to-remove', 'Check a halted removal before approving it'),
      run(async () => (await import('./commands/ls.ts')).ls),
    )
    .command(
      'prune [glob]',
      'Remove files from the platform that were kept there',
      (command) =>
        command
          .positional('glob', { type: 'string', description: 'Pattern: only files whose path matches' })
          .option(
            'kept',
            flag('Files that were deleted here, or are no longer synced, and were kept on the platform'),
          )
          .option('dry-run', flag('List what would be removed; remove nothing'))
          .option('yes', flag('Remove them without asking'))
          .check(({ kept, dryRun, yes }) => {
            if (!kept) throw new UsageError('say what is to be removed: botsync prune --kept');
            if (dryRun && yes) throw new UsageError('--dry-run and --yes: use only one of them');
            return true;
          })
          .example('$0 prune --kept --dry-run', 'What would be removed')
          .example("$0 prune --kept 'old/**'", 'Remove kept files below old/'),
      run(async () => (await import('./commands/prune.ts')).prune),
    )
    .command(
      'verify',
      'Compare the files of the bots with what was sent',
      (command) =>
        command
          .option('content', flag('Also download and compare the contents'))
          .option('repair', flag('Repair missing, damaged or changed files'))
          .option('prune', flag('Remove files that botsync sent and that are neither here nor recorded'))
          .option('allow-removals', flag('Make removals that a guard would halt, in this run only'))
          .check(({ repair, prune, allowRemovals }) => {
            if (allowRemovals && !repair && !prune)
              throw new UsageError('--allow-removals needs --repair or --prune');
            return true;
          })
          .example('$0 verify', 'Check that the bots have what was sent')
          .example('$0 verify --repair', 'Send missing files again'),
      run(async () => (await import('./commands/verify.ts')).verify),
    )
    .command(
      'explain <path>',
      'Show the key, rules and upsert of a local file, and what a pass would do with it',
      (command) =>
        command
          .positional('path', { type: 'string', demandOption: true, description: 'A file of a source' })
          .example('$0 explain docs/prices.md', 'Why a file is or is not sent'),
      run(async () => (await import('./commands/explain.ts')).explain),
    );
}

/** Adds the commands on a cluster. */
export function addClusterCommands(parser: Argv<GlobalArguments>, run: RunCommand): Argv<GlobalArguments> {
  return parser.command(
    'cluster',
    'Several hosts that sync together',
    (cluster) =>
      cluster
        .command(
          'init',
          'Make the tables of the ledger',
          (command) =>
            command
              .option('role', text('The role for which the grants are printed'))
              .option(
                'database',
                text(
                  'Where the address with the role of the owner is: env:NAME or file:PATH (default: cluster.database)',
                ),
              )
              .example('$0 cluster init --role botsync_host', 'With grants that can be run as they are'),
          run(async () => (await import('./commands/cluster.ts')).clusterInit),
        )
        .command(
          'status',
          'Show hosts, units, and which host holds which unit',
          (command) => command.example('$0 cluster status', 'Who is there, and who syncs what'),
          run(async () => (await import('./commands/cluster.ts')).clusterStatus),
        )
        .command(
          'release [unit]',
          'Move a unit to another host, or all that this host holds',
          (command) =>
            command
              .positional('unit', { type: 'string', description: 'The name of a unit' })
              .example('$0 cluster release', 'Before this host is taken down'),
          run(async () => (await import('./commands/cluster.ts')).clusterRelease),
        )
        .demandCommand(1, 1, 'Name a subcommand: init, status or release.'),
    () => undefined,
  );
}
