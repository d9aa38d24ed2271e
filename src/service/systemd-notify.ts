import { spawn } from 'node:child_process';

/** Reports the daemon's state to the service manager (systemd's `sd_notify` protocol). Methods neither wait nor fail. */
export interface ServiceManager {
  /** Reports that the daemon has started, or finished reloading. `status`: its current work. */
  readonly ready: (status: string) => void;
  /** Reports a reload of the configuration; `ready` ends it. */
  readonly reloading: () => void;
  /** Reports that the daemon is about to end. */
  readonly stopping: () => void;
  /** Reports the current work, as the line of `systemctl status`. */
  readonly status: (text: string) => void;
  /** Reports that the daemon is alive. Due well within `watchdogIntervalMs`, half of it as a rule. */
  readonly watchdog: () => void;
  /** The service manager ends a daemon without a report for this long, milliseconds; `null`: no watchdog. */
  readonly watchdogIntervalMs: number | null;
  /** Resolves when all messages are delivered or given up. */
  readonly flush: () => Promise<void>;
}

/** `systemd-notify` itself waits 5 s until the service manager has read a message. */
const DELIVERY_LIMIT_MS = 10_000;

/** A message may have 4,096 bytes; a longer one is dropped. */
const LONGEST_STATUS = 500;

/** Variables of the protocol and their values. */
type SystemdVariables = Map<string, string>;

export const NOBODY_LISTENS: ServiceManager = {
  ready: () => undefined,
  reloading: () => undefined,
  stopping: () => undefined,
  status: () => undefined,
  watchdog: () => undefined,
  watchdogIntervalMs: null,
  flush: () => Promise.resolve(),
};

/**
 * Opens the service manager that `env` names; without one, nothing is sent.
 *
 * Messages are sent by the command `systemd-notify`, since Node has no datagrams over unix sockets: one at a time,
 * in order. It is a child process, so the unit needs `NotifyAccess=all`.
 *
 * @param env - of this process; NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID and PATH are used.
 * @param warn - called once if messages cannot be delivered.
 */
export function openServiceManager(env: NodeJS.ProcessEnv, warn: (message: string) => void): ServiceManager {
  const { NOTIFY_SOCKET: socket = '', PATH: path } = env;
  if (socket === '') return NOBODY_LISTENS;
  const childEnv = { NOTIFY_SOCKET: socket, ...(path !== undefined && { PATH: path }) };
  const waiting: SystemdVariables[] = [];
  let sending: Promise<void> | null = null;
  let warned = false;
  const sendAll = async (): Promise<void> => {
    for (let message = waiting.shift(); message !== undefined; message = waiting.shift()) {
      const problem = await runNotify(message, childEnv);
      if (problem === null || warned) continue;
      warned = true;
      warn(`the service manager cannot be notified: ${problem}`);
    }
    sending = null;
  };
  const post = (...variables: [string, string][]): void => {
    waiting.push(new Map(variables));
    sending ??= sendAll();
  };
  /**
   * Adds to the last waiting message, for reports that change no state, so that messages do not pile up for a slow service
   * manager.
   */
  const join = (...variable: [string, string]): void => {
    const last = waiting.at(-1);
    if (last === undefined) post(variable);
    else last.set(...variable);
  };

  return {
    ready: (status) => {
      post(['READY', '1'], statusLine(status));
    },
    reloading: () => {
      post(['RELOADING', '1']);
    },
    stopping: () => {
      post(['STOPPING', '1']);
    },
    status: (text) => {
      join(...statusLine(text));
    },
    watchdog: () => {
      join('WATCHDOG', '1');
    },
    watchdogIntervalMs: watchdogIntervalOf(env),
    flush: async () => {
      await sending;
    },
  };
}

/** Variables are lines: a line break would begin another one. */
function statusLine(text: string): [string, string] {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim();
  return ['STATUS', line.slice(0, LONGEST_STATUS)];
}

function watchdogIntervalOf({ WATCHDOG_USEC: micros, WATCHDOG_PID: pid }: NodeJS.ProcessEnv): number | null {
  // The variables were meant for a parent process.
  if (pid !== undefined && pid !== String(process.pid)) return null;
  return micros !== undefined && /^[1-9]\d*$/u.test(micros) ? Number(micros) / 1000 : null;
}

/** Delivers one message; returns the problem, or `null`. The child gets only `env`: ours may contain secrets. */
async function runNotify(message: SystemdVariables, env: NodeJS.ProcessEnv): Promise<string | null> {
  return await new Promise((resolve) => {
    const child = spawn(
      'systemd-notify',
      ['--', ...[...message].map(([name, value]) => `${name}=${value}`)],
      {
        env,
        stdio: 'ignore',
        timeout: DELIVERY_LIMIT_MS,
        killSignal: 'SIGKILL',
      },
    );
    child.once('error', (error) => {
      resolve(`systemd-notify: ${(error as NodeJS.ErrnoException).code ?? error.message}`);
    });
    child.once('exit', (code, signal) => {
      if (code === 0) resolve(null);
      else resolve(`systemd-notify ended ${code === null ? `by ${String(signal)}` : `with code ${code}`}`);
    });
  });
}

export interface StandardErrorFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Of standard error; `null` if it is closed. */
  readonly stat: { readonly dev: bigint; readonly ino: bigint } | null;
}

/**
 * Returns whether a service manager started this process and keeps its log: standard error leads to the journal
 * (JOURNAL_STREAM, systemd.exec(5)), the service manager started this very process (SYSTEMD_EXEC_PID), or waits for
 * the service to be up (NOTIFY_SOCKET). INVOCATION_ID proves nothing: a shell in a desktop session and everything
 * started in it has it, too.
 */
export function servesStandardError({ env, pid, stat }: StandardErrorFacts): boolean {
  const { JOURNAL_STREAM: journal, SYSTEMD_EXEC_PID: started, NOTIFY_SOCKET: notify } = env;
  if (stat !== null && journal === `${stat.dev}:${stat.ino}`) return true;
  return started === String(pid) || (notify !== undefined && notify !== '');
}
