import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { quoteForShell } from '../config/problem.ts';
import type { Clock } from '../domain/clock.ts';
import type { NotifySettings } from '../domain/notice.ts';
import { Notifications, type MessageOutcome } from '../notify/notifications.ts';
import type { Wording } from '../notify/words.ts';
import type { Log } from '../service/logger.ts';
import { systemClock } from '../service/system-clock.ts';
import type { Holding } from './holding.ts';
import type { RunTarget } from './run-base.ts';
import { platformName } from './load.ts';
import { messengerPorts, openMessenger, stateConversations } from './open-messenger.ts';
import type { PlatformAccess } from './platform/platform-access.ts';
import { takeFigures, takeSnapshot, type Health } from './take-snapshot.ts';

/** A run that sends notifications about what it works on. */
export interface NotifiedRun extends Pick<Holding, 'state' | 'config' | 'unit'> {
  readonly health: () => Health;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly ended: (outcome: MessageOutcome) => void;
}

/** The way to approve a halt: the command `approve`, or the option `--allow-removals`. */
export type HowToApprove = 'approve' | 'allow-removals';

/** Sends the notifications of `notify`, under one configuration. */
export class Notifier {
  readonly #options: RunTarget;
  readonly #loaded: LoadedConfig;
  readonly #settings: NotifySettings;
  readonly #access: PlatformAccess;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #howToApprove: HowToApprove;

  private constructor(
    { options, loaded, clock, log, howToApprove }: NotifierInput,
    settings: NotifySettings,
    access: PlatformAccess,
  ) {
    this.#options = options;
    this.#loaded = loaded;
    this.#settings = settings;
    this.#access = access;
    this.#clock = clock;
    this.#log = log;
    this.#howToApprove = howToApprove;
  }

  /** Creates a notifier; `null`: without `notify`. Throws `SyncError` if the configuration lacks something for it. */
  static async open(input: NotifierInput): Promise<Notifier | null> {
    const { options, loaded, log } = input;
    const settings = loaded.config.notify;
    if (settings === null) return null;
    const access = input.access.forMessages((reason, delayMs) => {
      log.debug('retrying a notification', { reason, delayMs: Math.round(delayMs) });
    });
    try {
      // Fail now if the configuration lacks something, not at the first message.
      messengerPorts(access.clients, loaded.config, options.emulator);
      return new Notifier(input, settings, access);
    } catch (error) {
      await access.close();
      throw error;
    }
  }

  /** True if any file is announced. */
  get announces(): boolean {
    return this.#settings.announce.length > 0;
  }

  /** Creates the notifications of a run. Throws `StateFileError`. */
  begin({ state, config: configNow, health, platformNow, ended, unit }: NotifiedRun): Notifications {
    const { config } = this.#loaded;
    const { emulator } = this.#options;
    const name = platformName(this.#options, config);
    const clients = unit === null ? this.#access.clients : this.#access.clientsUnder(unit.lease);
    const ports = messengerPorts(clients, config, emulator);
    const conversations = unit?.conversations ?? stateConversations(state.notices);
    return new Notifications(this.#settings, {
      memory: state.notices,
      messenger: openMessenger(ports, config, name, emulator, conversations),
      snapshot: () => takeSnapshot(state, configNow(), name, platformNow(), health()),
      figures: (sinceMs) => takeFigures(state, configNow(), name, systemClock.now(), sinceMs),
      wording: describeRun(this.#options, config, this.#howToApprove, unit?.name),
      clock: this.#clock,
      log: this.#log,
      ended,
    });
  }

  /** Cuts off running messages. */
  async close(): Promise<void> {
    await this.#access.close();
  }
}

export interface NotifierInput {
  readonly options: RunTarget;
  readonly loaded: LoadedConfig;
  /** Messages use the same access, with connections of their own. */
  readonly access: PlatformAccess;
  readonly clock: Clock;
  readonly log: Log;
  readonly howToApprove: HowToApprove;
}

/** Returns the host name and the commands for messages; the commands can be run as they are. `unit`: of a cluster. */
export function describeRun(
  { emulator }: Pick<RunTarget, 'emulator'>,
  { file, cluster }: Pick<Config, 'file' | 'cluster'>,
  howToApprove: HowToApprove,
  unit?: string,
): Wording {
  const rest = `${emulator ? ' --emulator' : ''} -c ${quoteForShell(file)}`;
  const host = cluster?.host ?? hostname();
  return {
    host: unit === undefined ? host : `${host} (${unit})`,
    commands: {
      status: `botsync status${rest}`,
      doctor: `botsync doctor${rest}`,
      approve: (source) => {
        if (howToApprove !== 'approve') return `botsync sync --once --allow-removals${rest}`;
        return `botsync approve ${quoteForShell(source)}${rest}`;
      },
    },
  };
}
