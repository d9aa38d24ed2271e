import type { Argv } from 'yargs';
import type { GlobalArguments } from './global-options.ts';

/** Adds the commands on bots, the hub, conversations and messages. `done` takes their exit code. */
export function addPlatformCommands(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser
    .command(
      'bots',
      'The bots of the workspace',
      (command) =>
        withSecrets(command).example('$0 bots --json', 'Everything the platform reports about them'),
      async (options) => {
        const { bots } = await import('./commands/bots.ts');
        done(await bots(options));
      },
    )
    .command(
      'search <query>',
      "Search the bot's files as the bot does",
      (command) =>
        command
          .positional('query', { type: 'string', demandOption: true, description: 'The question' })
          .option('tag', {
            type: 'string',
            array: true,
            requiresArg: true,
            description: 'Only files with this tag, NAME=VALUE; may be repeated',
          })
          .option('limit', { type: 'number', requiresArg: true, description: 'Maximum number of passages' })
          .option('source', {
            type: 'string',
            requiresArg: true,
            description: 'The source whose bot is asked, where there are several bots',
          })
          .example("$0 search 'How do I pay?'", 'The best passages, best first'),
      async (options) => {
        const { search } = await import('./commands/search.ts');
        done(await search(options));
      },
    )
    .command(
      'passages <path>',
      'Show the passages that the platform extracted from a local file',
      (command) =>
        command
          .positional('path', { type: 'string', demandOption: true, description: 'The local file' })
          .example('$0 passages docs/prices.md', 'The passages that the bot can find'),
      async (options) => {
        const { passages } = await import('./commands/search.ts');
        done(await passages(options));
      },
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
            description: 'A version, a range of versions, or latest',
          })
          .option('multiple-integrations', {
            type: 'boolean',
            default: false,
            description: 'Ask for instances keyed by alias (x-multiple-integrations)',
          })
          .example("$0 integration slack '^2.0.0'", 'The latest version 2'),
      async (options) => {
        const { integration } = await import('./commands/integration.ts');
        done(await integration(options));
      },
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
                .option('channel', {
                  type: 'string',
                  demandOption: true,
                  requiresArg: true,
                  description: "The integration's channel",
                })
                .option('tag', {
                  type: 'string',
                  array: true,
                  requiresArg: true,
                  description: 'A tag, NAME=VALUE; may be repeated',
                })
                .option('integration-name', {
                  type: 'string',
                  requiresArg: true,
                  description: 'The integration (deprecated by the platform)',
                })
                .option('integration-id', {
                  type: 'string',
                  requiresArg: true,
                  description: 'Sent as x-integration-id; overrides the config',
                })
                .option('integration-alias', {
                  type: 'string',
                  requiresArg: true,
                  description: 'Sent as x-integration-alias; overrides the config',
                })
                .example('$0 conversation create --channel channel --tag id=42', 'With a tag'),
            async (options) => {
              const { createConversation } = await import('./commands/conversation.ts');
              done(await createConversation(options));
            },
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
                .option('conversation', {
                  type: 'string',
                  demandOption: true,
                  requiresArg: true,
                  description: "The conversation's id",
                })
                .option('text', { type: 'string', requiresArg: true, description: 'A text' })
                .option('audio-url', {
                  type: 'string',
                  requiresArg: true,
                  description: 'The address of an audio file',
                })
                .option('payload', {
                  type: 'string',
                  requiresArg: true,
                  description: 'Any other payload: JSON, a file with JSON, or - for standard input',
                })
                .example('$0 message send --conversation conv_1 --text Hello', 'A text'),
            async (options) => {
              const { sendMessage } = await import('./commands/message.ts');
              done(await sendMessage(options));
            },
          )
          .demandCommand(1, 1, 'Name a subcommand: send.'),
      () => undefined,
    );
}

function withSecrets<Options>(command: Argv<Options>) {
  return command.option('show-secrets', {
    type: 'boolean',
    default: false,
    description: 'Show the secrets in the answer',
  });
}
