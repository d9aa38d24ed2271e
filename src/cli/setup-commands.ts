import yargs, { type Argv } from 'yargs';
import { EXIT } from '../domain/exit-code.ts';
import { printCompletionScript, SHELLS, usersShell } from './completion.ts';
import type { GlobalArguments } from './global-options.ts';

/** Adds the commands that help to set botsync up. `done` takes their exit code. */
export function addSetupCommands(
  parser: Argv<GlobalArguments>,
  done: (code: number) => void,
): Argv<GlobalArguments> {
  return parser
    .command(
      'doctor',
      'Look whether all is well: config, secrets, bots, directories, state file, limits',
      (command) => command,
      async (options) => {
        const { doctor } = await import('./commands/doctor.ts');
        done(await doctor(options));
      },
    )
    .command(
      'completion [shell]',
      'Print a script that makes the shell complete commands and options',
      (command) =>
        command
          .positional('shell', {
            choices: SHELLS,
            default: usersShell(),
            defaultDescription: 'by $SHELL',
            description: 'The shell',
          })
          .example('$0 completion bash >> ~/.bashrc', 'For every new shell'),
      ({ shell }) => {
        printCompletionScript(yargs, shell);
        done(EXIT.ok);
      },
    );
}
