/** Called for keys while something is displayed. */
export interface KeyPorts {
  /** q, Ctrl-C, Ctrl-D or Ctrl-\. */
  readonly quit: () => void;
  /** Ctrl-L, or the command continues after Ctrl-Z. */
  readonly redraw: () => void;
  /** Ctrl-Z: the command is about to be suspended. */
  readonly suspending: () => void;
}

/** Without a shell above it, a command is not suspended; it continues after this time, in milliseconds. */
const SUSPENDED_MS = 100;

/** The sequences of keys without a character; that of F2 contains a Q. */
const ESCAPE_SEQUENCE = /\u001b(?:\[[\d;?]*[ -/]*[@-~]|O.|.)?/gu;

/**
 * Reads keys without echo; the terminal then sends Ctrl-C and Ctrl-Z as characters. Returns a function that ends
 * it.
 */
export function listenForKeys(terminal: NodeJS.ReadStream, ports: KeyPorts): () => void {
  let goingOn: NodeJS.Timeout | null = null;
  const goOn = (): void => {
    if (goingOn !== null) clearTimeout(goingOn);
    goingOn = null;
    // The shell changed the mode of the terminal, which Node does not notice.
    terminal.setRawMode(false);
    terminal.setRawMode(true);
    ports.redraw();
  };
  const suspend = (): void => {
    ports.suspending();
    terminal.setRawMode(false);
    // To the whole process group, as the terminal would.
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
