/** What the keys of a terminal do while something is shown in place. */
export interface KeyPorts {
  /** Somebody wants to leave: q, Ctrl-C, Ctrl-D or Ctrl-\. */
  readonly quit: () => void;
  /** The screen is to be drawn again: Ctrl-L, or the command goes on after Ctrl-Z. */
  readonly redraw: () => void;
  /** The command is about to be suspended by Ctrl-Z. */
  readonly suspending: () => void;
}

/** A command that nobody suspends, as it has no shell above it, goes on after this time, milliseconds. */
const SUSPENDED_MS = 100;

/** What keys without a character send; F2 has a Q in it. */
const ESCAPE_SEQUENCE = /\u001b(?:\[[\d;?]*[ -/]*[@-~]|O.|.)?/gu;

/**
 * Takes over the keys of a terminal, so that what is typed is not shown. The terminal then sends Ctrl-C and Ctrl-Z as
 * characters. Returns what gives the keys back.
 */
export function listenForKeys(terminal: NodeJS.ReadStream, ports: KeyPorts): () => void {
  let goingOn: NodeJS.Timeout | null = null;
  const goOn = (): void => {
    if (goingOn !== null) clearTimeout(goingOn);
    goingOn = null;
    // The shell has set the terminal as it likes it, which Node does not notice.
    terminal.setRawMode(false);
    terminal.setRawMode(true);
    ports.redraw();
  };
  const suspend = (): void => {
    ports.suspending();
    terminal.setRawMode(false);
    // As the terminal would: all of what was started together.
    process.kill(0, 'SIGTSTP');
    goingOn = setTimeout(goOn, SUSPENDED_MS);
  };
  const take = (keys: Buffer): void => {
    for (const key of keys.toString('latin1').replaceAll(ESCAPE_SEQUENCE, '')) {
      if ('qQ\u0003\u0004\u001c'.includes(key)) ports.quit();
      else if (key === '\u000c') ports.redraw();
      else if (key === '\u001a') suspend();
    }
  };
  terminal.setRawMode(true);
  terminal.on('data', take);
  process.on('SIGCONT', goOn);
  return () => {
    if (goingOn !== null) clearTimeout(goingOn);
    process.off('SIGCONT', goOn);
    terminal.off('data', take);
    terminal.setRawMode(false);
    terminal.pause();
  };
}
