import type { Argv } from 'yargs';
import {
  flag,
  newConfig,
  number,
  text,
  texts,
  type GlobalArguments,
  type RunCommand,
} from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Adds the commands on bots, the hub, conversations and messages. */
export function addPlatformCommands(parser: Argv<GlobalArguments>, run: RunCommand): Argv<GlobalArguments> {
  return parser
    .command(
      'bots',
      'The bots of the workspace',
      (command) =>
        withSecrets(command).example('$0 bots --json', 'Everything the platform reports about them'),
      run(async () => (await import('./commands/administration.ts')).bots),
    )
    .command(
      'search <query>',
      "Search the bot's files as the bot does",
      (command) =>
        command
          .positional('query', { type: 'string', demandOption: true, description: 'The question' })
          .option('tag', texts('Only files with this tag, NAME=VALUE; may be repeated'))
          .option('limit', number('Maximum number of passages'))
          .option('source', text('Name of the source whose bot is asked, where there are several bots'))
          .example("$0 search 'How do I pay?'", 'The best passages, best first'),
      run(async () => (await import('./commands/search.ts')).search),
    )
    .command(
      'passages <path>',
      'Show the passages that the platform extracted from a local file',
      (command) =>
        command
          .positional('path', { type: 'string', demandOption: true, description: 'The local file' })
          .example('$0 passages docs/prices.md', 'The passages that the bot can find'),
      run(async () => (await import('./commands/search.ts')).passages),
    )
    .command(
      'integration <name> [range]',
      'Show an integration of the hub: its channels, actions and events',
      (command) =>
        withSecrets(command)
          .positional('name', { type: 'string', demandOption: true, description: 'Its name' })
          .positional('range', {
            type: 'string',
            default: 'latest',
            description: 'A version, a range of versions, or latest (default: latest)',
          })
          .option('multiple-integrations', flag('Ask for instances keyed by alias (x-multiple-integrations)'))
          .example("$0 integration slack '^2.0.0'", 'The latest version 2'),
      run(async () => (await import('./commands/administration.ts')).integration),
    )
    .command(
      'conversation',
      'Conversations of the bot',
      (conversation) =>
        conversation
          .command(
            'create',
            'Create a conversation',
            (command) =>
              withSecrets(command)
                .option('channel', { ...text("The integration's channel (required)"), demandOption: true })
                .option('tag', texts('A tag, NAME=VALUE; may be repeated'))
                .option('integration-name', text('Name of the integration (deprecated by the platform)'))
                .option(
                  'integration-id',
                  text('Id of the integration, sent as x-integration-id; overrides the config'),
                )
                .option(
                  'integration-alias',
                  text('Alias of the integration, sent as x-integration-alias; overrides the config'),
                )
                .example('$0 conversation create --channel channel --tag id=42', ''),
            run(async () => (await import('./commands/conversation.ts')).createConversation),
          )
          .demandCommand(1, 1, 'Name a subcommand: create.'),
      () => undefined,
    )
    .command(
      'message',
      'Messages of the chat user',
      (message) =>
        message
          .command(
            'send',
            'Send a message as the chat user of the config',
            (command) =>
              withSecrets(command)
                .option('conversation', { ...text("The conversation's id (required)"), demandOption: true })
                .option('text', text('Text to send'))
                .option('audio-url', text('Address of an audio file to send'))
                .option(
                  'payload',
                  text('Any other payload to send: JSON, a file with JSON, or - for standard input'),
                )
                .example('$0 message send --conversation conv_1 --text Hello', ''),
            run(async () => (await import('./commands/conversation.ts')).sendMessage),
          )
          .demandCommand(1, 1, 'Name a subcommand: send.'),
      () => undefined,
    );
}

function withSecrets<Options>(command: Argv<Options>) {
  return command.option('show-secrets', flag('Show the secrets in the answer'));
}

/** Adds the command `emulator`. */
export function addEmulatorCommand(parser: Argv<GlobalArguments>, run: RunCommand): Argv<GlobalArguments> {
  return parser.command(
    'emulator',
    'Run the local platform until a signal ends it',
    (command) =>
      command
        .option('port', { ...number('Port on 127.0.0.1; 0 for any free one (default: 8787)'), default: 8787 })
        .option('data', {
          ...text('Directory for its data (default: .botsync/emulator)'),
          default: '.botsync/emulator',
        })
        .option('bot', texts('A bot to create, ID or ID=NAME; may be repeated'))
        .option(
          'token',
          text('Where the token to accept is stored, env:NAME or file:PATH (default: a random token)'),
        )
        .option('file-quota', number('File Storage quota in bytes'))
        .option('vector-quota', number('Vector DB Storage quota in bytes'))
        .option('operations', {
          choices: ['all', 'specified'] as const,
          default: 'all' as const,
          description:
            'Operations to serve: all, or specified for the five specified ones only (default: all)',
          requiresArg: true,
        })
        .option(
          'indexing-delay',
          text('How long an indexed file takes to be searchable, such as 2s (default: no time)'),
        )
        .option('fail-indexing', texts('Pattern of keys whose indexing fails; may be repeated'))
        .option('slow', {
          type: 'string',
          description:
            'Read uploads slowly: bytes per second, for all uploads together; 100000 without a number',
        })
        .option(
          'fail',
          number('Answer every request with this status (default: 503, if --fail-for is given)'),
        )
        .option(
          'fail-for',
          text('How long requests fail after the start, such as 30s (default: until it ends)'),
        )
        .check(({ port, fileQuota, vectorQuota }) => {
          const isWithin = (value: number, most: number): boolean =>
            Number.isInteger(value) && value >= 0 && value <= most;
          if (!isWithin(port, 65_535)) throw new UsageError('--port takes a number from 0 to 65535');
          const quotas = [fileQuota, vectorQuota].map((quota) => Number(quota ?? 0));
          if (!quotas.every((quota) => isWithin(quota, Number.MAX_SAFE_INTEGER)))
            throw new UsageError('--file-quota and --vector-quota take a number of bytes');
          return true;
        })
        .example('$0 emulator', 'A local platform to try botsync')
        .example('$0 emulator --fail-for 30s', 'Rehearse an outage of half a minute'),
    run(async () => (await import('./commands/emulator.ts')).emulator),
  );
}

/** Adds the commands for setting botsync up. */
export function addSetupCommands(parser: Argv<GlobalArguments>, run: RunCommand): Argv<GlobalArguments> {
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
      run(async () => (await import('./commands/init.ts')).init),
    )
    .command(
      'doctor',
      'Check config, secrets, bots, directories, state file and limits',
      (command) =>
        command
          .option('send-test', flag('Send a test message'))
          .example('$0 doctor --send-test', 'Also test notifications'),
      run(async () => (await import('./commands/doctor.ts')).doctor),
    );
}
