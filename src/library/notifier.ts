import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { quoteForShell } from '../config/permissions.ts';
import type { Clock } from '../domain/clock.ts';
import type { NotifySettings } from '../domain/notice.ts';
import { Notifications, type MessageOutcome } from '../notify/notifications.ts';
import type { ConversationMemory, MessengerPorts } from '../notify/messenger.ts';
import type { Snapshot } from '../notify/trouble.ts';
import type { Figures, Wording } from '../notify/words.ts';
import type { Log } from '../service/logger.ts';
import { systemClock } from '../service/system-clock.ts';
import type { NoticeStore } from '../state/notices.ts';
import type { StateStore } from '../state/state-store.ts';
import type { RunTarget } from './run-target.ts';
import { platformName } from './load.ts';
import { messengerPorts, openMessenger } from './open-messenger.ts';
import type { PlatformAccess } from './platform/platform-access.ts';
import { takeFigures, takeSnapshot, type Health } from './take-snapshot.ts';

/** Whom a run tells: what is told of it, and what is done with the outcome. */
export interface NotifiedRun {
  /** Remembers what people were told. */
  readonly notices: NoticeStore;
  /** Remembers the conversations; `notices` unless given. */
  readonly conversations?: ConversationMemory;
  /** How it stands. Throws `StateFileError`. */
  readonly look: RunLook;
  /** Names of the hosts that it tells of; this machine unless given. */
  readonly hosts?: () => readonly string[];
  /** Has the next look be at how things stand now. */
  readonly refresh?: () => Promise<void>;
  readonly ended: (outcome: MessageOutcome) => void;
  /** Told once what it is remembered with fails: people are told nothing from then on. */
  readonly failed?: (error: Error) => void;
}

/** How a run stands, under a configuration. */
export interface RunLook {
  readonly snapshot: (under: LookedUnder) => Snapshot;
  /** @param sinceMs - epoch milliseconds of the last summary. */
  readonly figures: (under: LookedUnder, sinceMs: number) => Figures;
}

/** What a look at a run is made with. */
export interface LookedUnder {
  readonly config: Config;
  /** What the platform is called in records. */
  readonly platformName: string;
}

/** How a run with one state file stands. `platformNow`: the platform's time, epoch milliseconds. */
export function lookAtState(state: StateStore, health: () => Health, platformNow: () => number): RunLook {
  return {
    snapshot: ({ config, platformName: name }) => takeSnapshot(state, config, name, platformNow(), health()),
    figures: ({ config, platformName: name }, sinceMs) =>
      takeFigures(state, config, name, systemClock.now(), sinceMs),
  };
}

/** How a run goes on when a source is halted: what lets it through. */
export type HowToApprove = 'approve' | 'allow-removals';

/** Tells people what `notify` says, under one configuration. */
export class Notifier {
  readonly #options: RunTarget;
  readonly #loaded: LoadedConfig;
  readonly #settings: NotifySettings;
  readonly #ports: MessengerPorts;
  readonly #access: PlatformAccess;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #howToApprove: HowToApprove;

  private constructor(
    { options, loaded, clock, log, howToApprove }: NotifierInput,
    settings: NotifySettings,
    ports: MessengerPorts,
    access: PlatformAccess,
  ) {
    this.#options = options;
    this.#loaded = loaded;
    this.#settings = settings;
    this.#ports = ports;
    this.#access = access;
    this.#clock = clock;
    this.#log = log;
    this.#howToApprove = howToApprove;
  }

  /** Makes one; `null` when the config has no `notify`. Throws `SyncError` when it lacks what that takes. */
  static async open(input: NotifierInput): Promise<Notifier | null> {
    const { options, loaded, log } = input;
    const settings = loaded.config.notify;
    if (settings === null) return null;
    const access = input.access.forMessages((reason, delayMs) => {
      log.debug('retrying a notification', { reason, delayMs: Math.round(delayMs) });
    });
    try {
      const ports = messengerPorts(access.clients, loaded, options.emulator);
      return ports === null ? null : new Notifier(input, settings, ports, access);
    } catch (error) {
      await access.close();
      throw error;
    }
  }

  /** Whether any file is to be announced. */
  get announces(): boolean {
    return this.#settings.announce.length > 0;
  }

  /** Begins to tell of a run. Throws `StateFileError`. */
  begin({ notices, conversations = notices, look, hosts, ended }: NotifiedRun): Notifications {
    const { config } = this.#loaded;
    const under = { config, platformName: platformName(this.#options, config) };
    return new Notifications(this.#settings, {
      memory: notices,
      messenger: openMessenger(
        this.#ports,
        config,
        under.platformName,
        this.#options.emulator,
        conversations,
      ),
      snapshot: () => look.snapshot(under),
      figures: (sinceMs) => look.figures(under, sinceMs),
      wording: describeRun(this.#options, config.file, this.#howToApprove, hosts),
      clock: this.#clock,
      log: this.#log,
      ended,
    });
  }

  /** Breaks off what is running. */
  async close(): Promise<void> {
    await this.#access.close();
  }
}

/** What a notifier is made of. */
export interface NotifierInput {
  readonly options: RunTarget;
  readonly loaded: LoadedConfig;
  /** Messages go the same way, by connections of their own. */
  readonly access: PlatformAccess;
  readonly clock: Clock;
  readonly log: Log;
  readonly howToApprove: HowToApprove;
}

/** So many hosts are named in a message. */
const MOST_NAMED = 3;

/**
 * What messages say of this run: the machine, and commands that can be run as they are.
 *
 * @param hosts - of a cluster, that are told of.
 */
export function describeRun(
  { emulator }: Pick<RunTarget, 'emulator'>,
  configFile: string,
  howToApprove: HowToApprove,
  hosts?: () => readonly string[],
): Wording {
  const rest = `${emulator ? ' --emulator' : ''} -c ${quoteForShell(configFile)}`;
  return {
    get host() {
      const names = hosts?.() ?? [];
      if (names.length === 0) return hostname();
      return names.length > MOST_NAMED ? `${names.length} hosts` : names.join(', ');
    },
    commands: {
      status: `botsync status${rest}`,
      doctor: `botsync doctor${rest}`,
      cluster: `botsync cluster status${rest}`,
      approve: (source) => {
        if (howToApprove !== 'approve') return `botsync sync --once --allow-removals${rest}`;
        const pinnedTo = hosts?.().find((host) => source.endsWith(`@${host}`));
        if (pinnedTo === undefined) return `botsync approve ${quoteForShell(source)}${rest}`;
        const own = source.slice(0, -pinnedTo.length - 1);
        return `botsync approve ${quoteForShell(own)}${rest} (on ${pinnedTo})`;
      },
    },
  };
}
