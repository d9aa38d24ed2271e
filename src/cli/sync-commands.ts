import type { Argv } from 'yargs';
import type { GlobalArguments } from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Adds the commands on the sources and their records. `done` takes their exit code. */
export function addSyncCommands(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser
    .command(
      'sync',
      'Keep the platform up to date with the sources',
      (command) =>
        command
          .option('once', { type: 'boolean', default: false, description: 'One full pass, then exit' })
          .option('dry-run', {
            type: 'boolean',
            default: false,
            description: 'Print what a pass would do; send and write nothing',
          })
          .option('force', {
            type: 'string',
            description: 'Send files again whatever the records say: all, or those that match GLOB',
            defaultDescription: 'all files',
          })
          .option('allow-removals', {
            type: 'boolean',
            default: false,
            description: 'Make removals that a guard would halt, in this run only',
          })
          .option('usage', {
            type: 'boolean',
            default: false,
            description: 'Show quotas, and what this run would add',
          })
          .option('open', {
            type: 'boolean',
            default: false,
            description: 'Show the page of the service in a browser, and its address in the log',
          })
          .option('wait', {
            type: 'string',
            requiresArg: true,
            description: "How long a pass waits for the platform's confirmation",
            defaultDescription: 'confirm.wait',
          })
          .option('no-wait', {
            type: 'boolean',
            default: false,
            description: 'Do not wait for the confirmation; the next pass checks it',
          })
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
      async (options) => {
        const { sync } = await import('./commands/sync.ts');
        done(await sync(options));
      },
    )
    .command(
      'approve [source]',
      'Let the service continue with a halted source, or with all of them',
      (command) =>
        command
          .positional('source', { type: 'string', description: 'The name of a source' })
          .example('$0 approve docs', 'Let the source docs continue, once'),
      async (options) => {
        const { approve } = await import('./commands/approve.ts');
        done(await approve(options));
      },
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
      async (options) => {
        const { rescan } = await import('./commands/rescan.ts');
        done(await rescan(options));
      },
    )
    .command(
      'reload',
      'Make the running service reload its configuration and secrets',
      (command) => command.example('$0 reload', 'After a change, where service.reloadOnChange is off'),
      async (options) => {
        const { reload } = await import('./commands/reload.ts');
        done(await reload(options));
      },
    )
    .command(
      'status',
      'What is in sync, what is not, and what expires next',
      (command) =>
        command
          .option('usage', {
            type: 'boolean',
            default: false,
            description: 'Also show quotas',
          })
          .option('watch', {
            alias: 'w',
            type: 'string',
            description: 'Keep showing the status until q or Ctrl-C; asks every DURATION',
            defaultDescription: '2s',
          })
          .check(({ usage, watch }) => {
            if (usage && watch !== undefined)
              throw new UsageError('--usage and --watch: use only one of them');
            return true;
          })
          .example('$0 status', 'State and problems')
          .example('$0 status --watch', 'Follow what a service does'),
      async (options) => {
        const { status } = await import('./commands/status.ts');
        done(await status(options));
      },
    )
    .command(
      'history',
      'What was done in the last hours or days',
      (command) =>
        command
          .option('since', {
            type: 'string',
            requiresArg: true,
            default: '24h',
            description: 'How far back, up to 30 days',
          })
          .example('$0 history --since 7d', 'The last week, day by day'),
      async (options) => {
        const { history } = await import('./commands/history.ts');
        done(await history(options));
      },
    )
    .command(
      'ls [glob]',
      'List files with their state here and on the platform',
      (command) =>
        command
          .positional('glob', { type: 'string', description: 'Only files whose path matches' })
          .option('kept', {
            type: 'boolean',
            default: false,
            description: 'Files that were deleted here and kept on the platform',
          })
          .option('failed', { type: 'boolean', default: false, description: 'Files that are not in sync' })
          .option('unindexed', {
            type: 'boolean',
            default: false,
            description: 'Files that are not known to be searchable',
          })
          .option('orphans', {
            type: 'boolean',
            default: false,
            description:
              'Files that botsync sent and that are neither here nor recorded; lists the files of the bots',
          })
          .option('to-remove', {
            type: 'boolean',
            default: false,
            description: 'Files to be removed, or whose removal a halt holds back',
          })
          .example('$0 ls --failed', 'What is not in sync')
          .example('$0 ls --to-remove', 'Check a halted removal before approving it'),
      async (options) => {
        const { ls } = await import('./commands/ls.ts');
        done(await ls(options));
      },
    )
    .command(
      'verify',
      'Compare the files of the bots with what was sent',
      (command) =>
        command
          .option('content', {
            type: 'boolean',
            default: false,
            description: 'Also download and compare the contents',
          })
          .option('repair', {
            type: 'boolean',
            default: false,
            description: 'Repair missing, damaged or changed files',
          })
          .option('prune', {
            type: 'boolean',
            default: false,
            description: 'Remove files that botsync sent and that are neither here nor recorded',
          })
          .option('allow-removals', {
            type: 'boolean',
            default: false,
            description: 'Make removals that a guard would halt, in this run only',
          })
          .check(({ repair, prune, allowRemovals }) => {
            if (allowRemovals && !repair && !prune)
              throw new UsageError('--allow-removals needs --repair or --prune');
            return true;
          })
          .example('$0 verify', 'Check that the bots have what was sent')
          .example('$0 verify --repair', 'Send missing files again'),
      async (options) => {
        const { verify } = await import('./commands/verify.ts');
        done(await verify(options));
      },
    )
    .command(
      'explain <path>',
      'Show the key, rules and upsert of a local file, and what a pass would do with it',
      (command) =>
        command
          .positional('path', { type: 'string', demandOption: true, description: 'A file of a source' })
          .example('$0 explain docs/prices.md', 'Why a file is or is not sent'),
      async (options) => {
        const { explain } = await import('./commands/explain.ts');
        done(await explain(options));
      },
    );
}
