import { hostname } from 'node:os';
import type { Config } from '../config/config.ts';
import type { LoadedConfig } from '../config/load-config.ts';
import { quoteForShell } from '../config/problem.ts';
import type { Clock } from '../domain/clock.ts';
import type { NotifySettings, ConversationChoice } from '../domain/notice.ts';
import { Notifications, type MessageOutcome } from '../notify/notifications.ts';
import type { Wording } from '../notify/words.ts';
import type { Log } from '../service/logger.ts';
import { systemClock } from '../service/system-clock.ts';
import type { Holding } from './holding.ts';
import { type RunTarget, platformName } from './run-base.ts';
import type { PlatformAccess } from './platform/platform-access.ts';
import { takeFigures, takeSnapshot, type Health } from './take-snapshot.ts';
import { ok } from '../domain/failure.ts';
import { canonicalJson } from '../domain/json.ts';
import type { NotificationChannel } from '../notify/channel.ts';
import { WebhookChannel } from '../notify/webhook-channel.ts';
import { Messenger, type ConversationMemory, type MessengerPorts } from '../notify/messenger.ts';
import type { NoticeStore } from '../store/notices.ts';
import { conversationBot, type Clients } from './platform/clients.ts';

/** A run that sends notifications about what it works on. */
export interface NotifiedRun extends Pick<Holding, 'state' | 'config' | 'unit'> {
  readonly health: () => Health;
  /** The platform's time, epoch milliseconds. */
  readonly platformNow: () => number;
  readonly ended: (outcome: MessageOutcome) => void;
}

/** The way to approve a halt: the command `approve`, or the option `--allow-removals`. */
type HowToApprove = 'approve' | 'allow-removals';

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
      demandChannel(access.clients, loaded.config, options.emulator);
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
    const conversations = unit?.conversations ?? stateConversations(state.notices);
    const wording = describeRun(this.#options, config, this.#howToApprove, unit?.name);
    return new Notifications(this.#settings, {
      memory: state.notices,
      channel: openChannel(
        clients,
        { config, host: wording.host, platformName: name, useEmulator: emulator },
        conversations,
      ),
      snapshot: () => takeSnapshot(state, configNow(), name, platformNow(), health()),
      figures: (sinceMs) => takeFigures(state, configNow(), name, systemClock.now(), sinceMs),
      wording,
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

interface NotifierInput {
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

type ChannelClients = Pick<Clients, 'administration' | 'conversations' | 'chat' | 'webhook'>;

/** Throws `SyncError` if the configuration lacks something for the place of notifications. */
function demandChannel(
  clients: ChannelClients,
  { notify }: Pick<Config, 'notify'>,
  useEmulator: boolean,
): void {
  if (notify?.place.kind === 'webhook') clients.webhook();
  else if (notify !== null) messengerPorts(clients, placeOf(notify.place, useEmulator));
}

/** The run that notifications are about. */
interface ChannelOwner {
  readonly config: Config;
  /** The host, as in the texts of messages. */
  readonly host: string;
  /** The name of the platform in records. */
  readonly platformName: string;
  readonly useEmulator: boolean;
}

/** Opens the place of `notify`. Throws `SyncError` if the configuration lacks something for it. */
export function openChannel(
  clients: ChannelClients,
  { config, host, platformName, useEmulator }: ChannelOwner,
  memory: ConversationMemory,
): NotificationChannel {
  const { notify, platform } = config;
  if (notify === null) throw new Error('there is no notify');
  if (notify.place.kind === 'webhook') {
    const webhook = clients.webhook();
    const { origin } = webhook;
    return new WebhookChannel(host, {
      origin,
      post: (body, signal) => webhook.post(body, signal),
      now: systemClock.now,
    });
  }
  const place = placeOf(notify.place, useEmulator);
  const botId = conversationBot(config);
  const identity = place.kind === 'created' && place.integration !== null ? {} : { ...platform.identity };
  const purpose =
    place.kind === 'existing'
      ? ''
      : canonicalJson({
          ...{ platform: platformName, botId, identity },
          ...{ channel: place.channel, tags: place.tags, integration: place.integration },
        });
  return new Messenger(place, purpose, messengerPorts(clients, place), memory);
}

/** Creates the requests that messages need. Throws `SyncError` if the configuration lacks something for them. */
function messengerPorts(clients: ChannelClients, place: ConversationChoice): MessengerPorts {
  const chat = clients.chat();
  const isCreated = place.kind === 'created';
  const administration = isCreated && place.integration !== null ? clients.administration() : null;
  // Fail now if the configuration lacks something, not at the first conversation.
  if (isCreated) clients.conversations({});
  return {
    lookUp: (name, version, signal) => {
      if (administration === null) throw new Error('an integration was looked up that is not in the config');
      return administration.getIntegration(name, version, false, signal);
    },
    create: (request, integrationId, signal) =>
      (integrationId === null
        ? clients.conversations({})
        : clients.conversations({ integrationId }, 'alone')
      ).create(request, signal),
    send: (request, signal) => chat.send(request, signal),
  };
}

/** Returns the configured conversation; with the emulator, which has no existing ones, a new one instead. */
function placeOf(place: ConversationChoice, useEmulator: boolean): ConversationChoice {
  if (place.kind === 'created' || !useEmulator) return place;
  const { conversationId } = place;
  return { kind: 'created', channel: 'channel', tags: { conversationId }, integration: null };
}
type StoredConversations = Pick<
  NoticeStore,
  'conversation' | 'saveConversation' | 'proveConversation' | 'forgetConversation'
>;

/** Creates a memory of conversations in the state file. */
export function stateConversations(notices: StoredConversations): ConversationMemory {
  return {
    find: (purpose) => Promise.resolve(ok(notices.conversation(purpose)?.id ?? null)),
    save: (purpose, id) => {
      notices.saveConversation(purpose, id);
      return Promise.resolve(ok(id));
    },
    learn: (purpose, _, what) => {
      const isProven = notices.conversation(purpose)?.isProven === true;
      if (what === 'arrived' && !isProven) notices.proveConversation(purpose);
      if (what === 'missing' && isProven) notices.forgetConversation(purpose);
      return Promise.resolve();
    },
    inTurn: (task) => task(),
  };
}
