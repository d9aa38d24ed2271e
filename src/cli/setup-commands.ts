import type { Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { completionScript, SHELLS, usersShell } from './completion.ts';
import { newConfig, type GlobalArguments } from './global-options.ts';
import { print } from './render/output.ts';

/** Adds the commands that help to set botsync up. `done` takes their exit code. */
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
          .default('config', newConfig(), '$BOTSYNC_CONFIG, or botsync.config.json here')
          .option('bot', { type: 'string', requiresArg: true, description: 'Id of the bot' })
          .option('directory', {
            type: 'string',
            requiresArg: true,
            description: 'Directory to sync',
          })
          .option('key-prefix', {
            type: 'string',
            description: "Prefix of the files' keys",
            defaultDescription: "the directory's name",
          })
          .option('index', {
            type: 'string',
            array: true,
            requiresArg: true,
            description: 'Pattern of files that the bot may search; may be repeated',
            defaultDescription: 'usual documents',
          })
          .option('no-index', {
            type: 'boolean',
            default: false,
            description: 'The bot may search none of the files',
          })
          .option('removals', {
            choices: ['keep', 'expire', 'delete'] as const,
            requiresArg: true,
            description: 'What happens on the platform when a file is deleted here',
            defaultDescription: 'keep',
          })
          .option('workspace', { type: 'string', requiresArg: true, description: 'Id of the workspace' })
          .option('token', {
            type: 'string',
            requiresArg: true,
            description: 'Where the access token is stored, never the token itself',
            defaultDescription: 'env:BOTSYNC_TOKEN',
          })
          .option('base-url', {
            type: 'string',
            requiresArg: true,
            description: 'Address of the platform',
            defaultDescription: 'https://api.botpress.cloud',
          })
          .option('chat-url', {
            type: 'string',
            requiresArg: true,
            description: 'Address of the chat',
            defaultDescription: 'https://chat.botpress.cloud',
          })
          .option('yes', {
            alias: 'y',
            type: 'boolean',
            default: false,
            description: 'Use the defaults, ask nothing',
          })
          .option('force', {
            type: 'boolean',
            default: false,
            description: 'Overwrite an existing configuration',
          })
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
          .option('send-test', {
            type: 'boolean',
            default: false,
            description: 'Send a test message',
          })
          .example('$0 doctor --send-test', 'Also test notifications'),
      async (options) => {
        const { doctor } = await import('./commands/doctor.ts');
        done(await doctor(options));
      },
    )
    .command(
      'completion [shell]',
      'Print a completion script for the shell',
      (command) =>
        command
          .positional('shell', {
            choices: SHELLS,
            default: usersShell(),
            defaultDescription: 'by $SHELL',
            description: 'The shell',
          })
          .example('$0 completion bash >> ~/.bashrc', 'bash, for every new shell')
          .example('$0 completion zsh >> ~/.zshrc', 'zsh')
          .example('$0 completion fish > ~/.config/fish/completions/botsync.fish', 'fish'),
      ({ shell }) => {
        print(completionScript(shell).trimEnd());
        done(EXIT.ok);
      },
    );
}
