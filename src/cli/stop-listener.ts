import { EXIT } from '../domain/exit-code.ts';
import { listenForStop as listen, type StopSignals } from '../service/stop-signals.ts';

/** What is done about the signals that end a command. */
export interface StopPorts {
  /** Called once, with the name of the first signal. */
  readonly stopping?: (signal: string) => void;
  /** Called before a second signal ends the process at once. */
  readonly endingNow?: () => void;
}

/** Listens for SIGINT and SIGTERM: the first asks for a clean end, a second one ends the process at once with 130. */
export function listenForStop({
  stopping = () => undefined,
  endingNow = () => undefined,
}: StopPorts = {}): StopSignals {
  return listen(stopping, () => {
    endingNow();
    process.exit(EXIT.interrupted);
  });
}
