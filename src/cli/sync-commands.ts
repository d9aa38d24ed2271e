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
            description: 'Print what would be done; send and write nothing',
          })
          .option('force', {
            type: 'string',
            description: 'Send again whatever the records say, all files or those that match GLOB',
            defaultDescription: 'all files',
          })
          .option('allow-removals', {
            type: 'boolean',
            default: false,
            description: 'Go ahead, this once, where a guard would halt a source',
          })
          .option('usage', {
            type: 'boolean',
            default: false,
            description: 'Ask what is used and allowed, and say first what this would add',
          })
          .option('wait', {
            type: 'string',
            requiresArg: true,
            description: 'How long one pass waits until the platform has said what became of the files',
            defaultDescription: 'confirm.wait',
          })
          .option('no-wait', {
            type: 'boolean',
            default: false,
            description: 'Leave that to the next pass',
          })
          .check(({ once, dryRun, force, allowRemovals, wait, noWait, usage }) => {
            if (once && dryRun) throw new UsageError('--once and --dry-run: write one of the two');
            if (allowRemovals && !once)
              throw new UsageError(
                '--allow-removals goes with --once; a running daemon takes botsync approve',
              );
            if (force !== undefined && !once && !dryRun)
              throw new UsageError('--force goes with --once or --dry-run');
            if ((wait !== undefined || noWait) && !once)
              throw new UsageError('--wait and --no-wait go with --once; a daemon waits for nothing');
            if (wait !== undefined && noWait)
              throw new UsageError('--wait and --no-wait: write one of the two');
            if (usage && !once && !dryRun) throw new UsageError('--usage goes with --once or --dry-run');
            return true;
          })
          .example('$0 sync', 'Keep everything up to date until a signal ends it')
          .example('$0 sync --once --emulator', 'Try a configuration without the platform')
          .example("$0 sync --once --force 'reports/**'", 'Send some files again'),
      async (options) => {
        const { sync } = await import('./commands/sync.ts');
        done(await sync(options));
      },
    )
    .command(
      'approve [source]',
      'Let a running botsync go on with a halted source, or with all of them',
      (command) =>
        command
          .positional('source', { type: 'string', description: 'The name of a source' })
          .example('$0 approve docs', 'Let the source docs go on, once'),
      async (options) => {
        const { approve } = await import('./commands/approve.ts');
        done(await approve(options));
      },
    )
    .command(
      'reload',
      'Have a running botsync read its configuration and secrets again',
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
            description: 'Ask the platform what is used and allowed as well',
          })
          .example('$0 status', 'How it stands, and what is wrong'),
      async (options) => {
        const { status } = await import('./commands/status.ts');
        done(await status(options));
      },
    )
    .command(
      'ls [glob]',
      'List files with what is known of them here and on the platform',
      (command) =>
        command
          .positional('glob', { type: 'string', description: 'Only files whose path matches' })
          .option('kept', {
            type: 'boolean',
            default: false,
            description: 'Files that are left on the platform',
          })
          .option('failed', { type: 'boolean', default: false, description: 'Files that are not in sync' })
          .option('unindexed', {
            type: 'boolean',
            default: false,
            description: 'Files that the bot is not known to be able to search',
          })
          .option('orphans', {
            type: 'boolean',
            default: false,
            description: 'Files that botsync sent and that are neither here nor on record; asks the bots',
          })
          .option('to-remove', {
            type: 'boolean',
            default: false,
            description: 'Files whose removal is due, or held back by a halt',
          })
          .example('$0 ls --failed', 'What is not in sync')
          .example('$0 ls --to-remove', 'Look at a halted removal before approving it'),
      async (options) => {
        const { ls } = await import('./commands/ls.ts');
        done(await ls(options));
      },
    )
    .command(
      'verify',
      'Compare what the bots have with what was sent',
      (command) =>
        command
          .option('content', {
            type: 'boolean',
            default: false,
            description: 'Read the contents on the platform as well, and compare them',
          })
          .option('repair', {
            type: 'boolean',
            default: false,
            description: 'Put right what is missing, damaged or told otherwise, by a pass',
          })
          .option('prune', {
            type: 'boolean',
            default: false,
            description: 'Remove files that botsync sent and that are neither here nor on record',
          })
          .option('allow-removals', {
            type: 'boolean',
            default: false,
            description: 'Go ahead, this once, where a guard would halt a source',
          })
          .check(({ repair, prune, allowRemovals }) => {
            if (allowRemovals && !repair && !prune)
              throw new UsageError('--allow-removals goes with --repair or --prune');
            return true;
          })
          .example('$0 verify', 'See whether the bots have what they were sent')
          .example('$0 verify --repair', 'Send again what they lost'),
      async (options) => {
        const { verify } = await import('./commands/verify.ts');
        done(await verify(options));
      },
    )
    .command(
      'explain <path>',
      'For one local file: its key, its rules, its upsert, and what a pass would do',
      (command) =>
        command
          .positional('path', { type: 'string', demandOption: true, description: 'A file of a source' })
          .example('$0 explain docs/prices.md', 'Why a file is sent, or is not'),
      async (options) => {
        const { explain } = await import('./commands/explain.ts');
        done(await explain(options));
      },
    );
}
