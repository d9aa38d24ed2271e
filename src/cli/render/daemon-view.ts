import { listener, type Emit, type ObservedDaemon } from '../../sync/events.ts';
import { haltAsFileEvent } from '../../words/halt.ts';
import { createLog, type StyledLog } from '../../service/logger.ts';
import type { ServiceManager } from '../../service/systemd-notify.ts';
import { DaemonNews } from '../../run/daemon/daemon-news.ts';
import { GRACE_MS } from '../../run/stop.ts';
import { version } from '../../run/version.ts';
import { logReader, logSettings } from './output.ts';
import { credentialAdvice } from '../credential-advice.ts';
import type { GlobalOptions } from '../global-options.ts';
import { durationText } from '../../service/amounts.ts';
import { describeInFlight } from './progress.ts';
import { drainOutput, neverWaitForReaders, printJson } from './output.ts';
import { describeSummary } from '../../words/pass.ts';
import { ProgressWatch } from './burst.ts';
import type { Config } from '../../config/config.ts';

/** The output of a daemon: log lines, results as JSON Lines with `--json`, and the status for the service manager. */
export class DaemonView {
  readonly log: StyledLog;
  readonly showsProgress: boolean;
  readonly #options: GlobalOptions;
  /** A person reads the log live. */
  readonly #isForPeople: boolean;
  readonly #watch: ProgressWatch;
  readonly #serviceManager: () => Pick<ServiceManager, 'status'>;
  /** `null` before the start. */
  #daemon: ObservedDaemon | null = null;
  readonly #startedAtMs = performance.now();
  readonly #news: DaemonNews;

  /** @param serviceManager - gets the result of each pass. */
  constructor(options: GlobalOptions, serviceManager: () => Pick<ServiceManager, 'status'>) {
    const reader = logReader();
    const settings = logSettings(options, reader);
    this.showsProgress =
      reader === 'terminal' && settings.format === 'pretty' && process.env['TERM'] !== 'dumb';
    this.#watch = new ProgressWatch(
      this.showsProgress,
      () => this.#daemon?.situation ?? null,
      ({ level, words, fields }) => {
        this.log.say(level, words, fields);
      },
    );
    this.log = createLog({ ...settings, level: options.logLevel ?? 'info', isTimed: true }, (lines) => {
      this.#watch.log(lines);
    });
    this.#news = new DaemonNews(this.log, () =>
      this.#daemon === null ? null : credentialAdvice(this.#daemon.config, options),
    );
    this.#options = options;
    this.#isForPeople = settings.format === 'pretty';
    this.#serviceManager = serviceManager;
    neverWaitForReaders({
      1: {
        dropping: () => {
          this.log.error('nobody reads standard output; results are dropped until somebody does');
        },
        resumed: (lines) => {
          printJson({ kind: 'dropped', lines });
          this.log.warn('standard output is being read again', { droppedLines: lines });
        },
      },
      2: {
        dropping: () => undefined,
        resumed: (lines) => {
          this.log.error(`${lines} lines of the log were dropped, because nothing read them`);
        },
      },
    });
  }

  /** Writes the remaining results and log lines to readers that still read. */
  async drain(): Promise<void> {
    this.#watch.end();
    const results = await drainOutput();
    if (results > 0) this.log.error(`${results} results were dropped, because nothing read standard output`);
  }

  stopping(signal: string): void {
    const { inFlight } = this.#watch;
    if (!this.showsProgress) {
      this.log.info('stopping: running transfers may finish, no new ones are started', { signal });
      return;
    }
    // The terminal echoed "^C" at the beginning of the line.
    if (signal === 'SIGINT') this.#watch.log('\n');
    const what =
      inFlight.length === 0
        ? ''
        : `: ${describeInFlight(inFlight)} may finish within ${durationText(GRACE_MS)}`;
    this.log.info(`stopping${what}; press Ctrl-C again to stop at once`);
  }

  /** Logs what an immediate end interrupts. */
  endNow(): void {
    const { inFlight } = this.#watch;
    const ranFor = `stopped at once after ${durationText(performance.now() - this.#startedAtMs)}`;
    this.log.warn(
      inFlight.length === 0
        ? ranFor
        : `${ranFor}; interrupted: ${describeInFlight(inFlight)}; the next start sends what is missing`,
    );
    this.#watch.end();
  }

  readonly listener: Emit = (event) => {
    if (this.#options.json) this.#results(event);
    this.#watch.listener(event);
    this.#news.listener(event);
    this.#own(event);
  };

  /** Prints results for programs. */
  readonly #results = listener({
    file: ({ file }) => {
      printJson(file);
    },
    halted: (event) => {
      printJson(haltAsFileEvent(event));
    },
    'pass-ended': ({ summary }) => {
      printJson({ kind: 'summary', ...summary });
    },
    difference: ({ difference: { source, path, key, reason, detail } }) => {
      printJson({ kind: 'verify', source, path, key, reason, detail });
    },
    verified: ({ verified }) => {
      printJson({ kind: 'verification', ...verified });
    },
  });

  readonly #own = listener({
    started: ({ daemon }) => {
      this.#daemon = daemon;
      const { config } = daemon;
      const platform = this.#options.emulator ? 'the emulator, within this process' : config.platform.baseUrl;
      const { lines, fields } = greeting(config, platform, version(), process.version);
      if (this.#isForPeople) for (const line of lines) this.log.info(line);
      else this.log.info('botsync starts', fields);
    },
    notice: ({ message }) => {
      this.log.info(message);
    },
    'pass-ended': ({ trigger, summary }) => {
      if (trigger === 'start' && this.#isForPeople && this.#daemon !== null)
        this.log.info(waitingFor(this.#daemon));
      const [line = ''] = describeSummary(summary, false, false);
      this.#serviceManager().status(line);
    },
  });
}

export interface Greeting {
  /** For people, one per line. */
  readonly lines: readonly string[];
  /** For programs. */
  readonly fields: object;
}

/**
 * Returns the first log lines of a daemon: version, configuration, platform and sources.
 *
 * @param platform - its address, or a description.
 */
function greeting(config: Config, platform: string, version: string, node: string): Greeting {
  const sources = config.sources.map(({ name, directory, keyPrefix, botId }) => ({
    name,
    directory,
    keyPrefix,
    botId,
  }));
  return {
    lines: [
      `botsync ${version} (Node ${node})`,
      `configuration: ${config.file}`,
      `platform: ${platform}`,
      ...sources.map(
        ({ name, directory, keyPrefix, botId }) =>
          `source ${name}: ${directory} to bot ${botId}${keyPrefix === '' ? '' : `, keys ${keyPrefix}…`}`,
      ),
    ],
    fields: { version, node, config: config.file, platform, sources },
  };
}

/** Describes how an idle daemon notices changes. */
function waitingFor({ config, situation }: ObservedDaemon): string {
  const { poll, pollIntervalMs, rescanMs } = config.watch;
  const watchedDirectories = situation?.activity.watchedDirectories ?? 0;
  if (poll) return `rescanning every ${durationText(pollIntervalMs)}; press Ctrl-C to stop`;
  const directories = watchedDirectories === 1 ? 'directory' : 'directories';
  return `watching ${watchedDirectories.toLocaleString('en')} ${directories} for changes, rescanning every ${durationText(rescanMs)}; press Ctrl-C to stop`;
}
