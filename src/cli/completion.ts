import type { Argv } from 'yargs';

/** The shells that completion is for. */
export const SHELLS = ['bash', 'zsh'] as const;
/** A shell that completion is for. */
export type Shell = (typeof SHELLS)[number];

/** What the printed scripts call botsync with. */
const REQUEST = '--get-yargs-completions';

/** The user's shell as the environment names it; bash when it names another. */
export function usersShell(): Shell {
  return process.env['SHELL']?.endsWith('zsh') === true ? 'zsh' : 'bash';
}

/** Prints the script that teaches a shell to complete the commands and options of botsync. */
export function printCompletionScript(makeParser: () => Argv, shell: Shell): void {
  actAs(shell);
  makeParser().scriptName('botsync').showCompletionScript();
}

/**
 * Whether a shell asks for completions; then the answer will be one for it. The two want different forms, and yargs goes
 * by the login shell, which need not be the one that asks: of the two scripts only that for zsh exports `COMP_LINE`.
 */
export function isCompletionRequest(args: readonly string[]): boolean {
  if (!args.includes(REQUEST)) return false;
  actAs(process.env['COMP_LINE'] === undefined ? 'bash' : 'zsh');
  return true;
}

/** yargs reads the environment when a parser is made. */
function actAs(shell: Shell): void {
  process.env['SHELL'] = shell;
  delete process.env['ZSH_NAME'];
}
