import type { Argv } from 'yargs';
import type { GlobalArguments } from './global-options.ts';
import { UsageError } from './usage-error.ts';

/** Adds the command that runs the emulator. `done` takes its exit code. */
export function addEmulatorCommand(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser.command(
    'emulator',
    'Run the local platform until a signal ends it',
    (command) =>
      command
        .option('port', {
          type: 'number',
          default: 8787,
          description: 'Port on 127.0.0.1; 0 for any',
          requiresArg: true,
        })
        .option('data', {
          type: 'string',
          default: '.botsync/emulator',
          description: 'Directory for its data',
          requiresArg: true,
        })
        .option('bot', {
          type: 'string',
          array: true,
          description: 'A bot to create: ID or ID=NAME',
          requiresArg: true,
        })
        .option('token', {
          type: 'string',
          description: 'The token to accept, as env:NAME or file:PATH; default: a random one',
          requiresArg: true,
        })
        .option('file-quota', {
          type: 'number',
          description: 'File Storage quota in bytes',
          requiresArg: true,
        })
        .option('vector-quota', {
          type: 'number',
          description: 'Vector DB Storage quota in bytes',
          requiresArg: true,
        })
        .option('operations', {
          choices: ['all', 'specified'] as const,
          default: 'all' as const,
          description: 'Which operations it serves: all, or only the five specified ones',
          requiresArg: true,
        })
        .option('indexing-delay', {
          type: 'string',
          description: 'How long an indexed file takes to be searchable, such as 2s',
          defaultDescription: 'none',
          requiresArg: true,
        })
        .option('fail-indexing', {
          type: 'string',
          array: true,
          description: 'Pattern of keys whose indexing fails; may be repeated',
          requiresArg: true,
        })
        .option('slow', {
          type: 'string',
          description: 'Read uploads slowly: bytes per second, for all uploads together',
          defaultDescription: '100000, if --slow has no value',
        })
        .option('fail', {
          type: 'number',
          description: 'Answer every request with this status, such as 503',
          defaultDescription: '503, if only --fail-for is given',
          requiresArg: true,
        })
        .option('fail-for', {
          type: 'string',
          description: 'How long requests fail after the start, such as 30s',
          defaultDescription: 'until it ends',
          requiresArg: true,
        })
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
        .example('$0 emulator --fail 503 --fail-for 30s', 'Rehearse an outage of half a minute'),
    async (options) => {
      const { emulator } = await import('./commands/emulator.ts');
      done(await emulator(options));
    },
  );
}
