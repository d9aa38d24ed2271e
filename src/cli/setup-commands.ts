import type { Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { flag, text, texts, newConfig, type GlobalArguments } from './global-options.ts';

/** Adds the commands for setting botsync up. `done` gets their exit code. */
export function addSetupCommands(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser
    .command(
      'init',
      'Write a configuration, by asking questions',
      (command) =>
        command
          .default('config', newConfig())
          .describe('config', 'File to write (default: $BOTSYNC_CONFIG, or botsync.config.json here)')
          .option('bot', text('Id of the bot'))
          .option('directory', text('Directory to sync'))
          .option('key-prefix', {
            type: 'string',
            description: "Prefix of the files' keys (default: the directory's name)",
          })
          .option(
            'index',
            texts('Pattern of files that the bot may search; may be repeated (default: usual documents)'),
          )
          .option('no-index', flag('The bot may search none of the files'))
          .option('removals', {
            choices: ['keep', 'expire', 'delete'] as const,
            requiresArg: true,
            description:
              'What happens on the platform when a file is deleted here: keep, expire, delete (default: keep)',
          })
          .option('workspace', text('Id of the workspace'))
          .option(
            'token',
            text(
              'Where the access token is stored, env:NAME or file:PATH, never the token itself (default: env:BOTSYNC_TOKEN)',
            ),
          )
          .option('base-url', text('Address of the platform (default: https://api.botpress.cloud)'))
          .option('chat-url', text('Address of the chat (default: https://chat.botpress.cloud)'))
          .option('yes', { ...flag('Use the defaults, ask nothing'), alias: 'y' })
          .option('force', flag('Overwrite an existing configuration'))
          .example('$0 init', 'Ask')
          .example('$0 init --bot ID --directory ./docs', 'In a script'),
      async (options) => {
        const { init } = await import('./commands/init.ts');
        done(await init(options));
      },
    )
    .command(
      'doctor',
      'Check config, secrets, bots, directories, state file and limits',
      (command) =>
        command
          .option('send-test', flag('Send a test message'))
          .example('$0 doctor --send-test', 'Also test notifications'),
      async (options) => {
        const { doctor } = await import('./commands/doctor.ts');
        done(await doctor(options));
      },
    )
    .command(
      'completion',
      'Print a completion script for bash or zsh, whichever $SHELL names',
      (command) =>
        command
          .example('$0 completion >> ~/.bashrc', 'bash, for every new shell')
          .example('$0 completion >> ~/.zshrc', 'zsh'),
      () => {
        parser.showCompletionScript();
        done(EXIT.ok);
      },
    );
}

/** Adds the commands on a cluster. `done` gets their exit code. */
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
          async (options) => {
            const { clusterInit } = await import('./commands/cluster.ts');
            done(await clusterInit(options));
          },
        )
        .command(
          'status',
          'Show hosts, units, and which host holds which unit',
          (command) => command.example('$0 cluster status', 'Who is there, and who syncs what'),
          async (options) => {
            const { clusterStatus } = await import('./commands/cluster.ts');
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
            const { clusterRelease } = await import('./commands/cluster.ts');
            done(await clusterRelease(options));
          },
        )
        .demandCommand(1, 1, 'Name a subcommand: init, status or release.'),
    () => undefined,
  );
}
