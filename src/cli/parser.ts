import yargs, { type Argv } from 'yargs';

/** What yargs has for its own modules. */
interface Internals {
  readonly getInternalMethods: () => {
    readonly getUsageInstance: () => { cacheHelpMessage: () => void };
  };
}

/**
 * A parser of command lines that writes no help: yargs would write that of every command which it starts, in case the command
 * fails, and that takes a sixth of the time that a command needs. Ours is in `help/`.
 */
export function createParser(): Argv {
  const parser = yargs().help(false).version(false);
  const usage = (parser as unknown as Internals).getInternalMethods().getUsageInstance();
  usage.cacheHelpMessage = () => undefined;
  return parser;
}
