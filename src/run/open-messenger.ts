import type { Config } from '../config/config.ts';
import { ok } from '../domain/failure.ts';
import { canonicalJson } from '../domain/json.ts';
import type { ConversationChoice } from '../domain/notice.ts';
import { Messenger, type ConversationMemory, type MessengerPorts } from '../notify/messenger.ts';
import type { NoticeStore } from '../store/notices.ts';
import { conversationBot, type Clients } from './platform/clients.ts';

/** Creates the requests that messages need. Throws `SyncError` if the configuration lacks something for them. */
export function messengerPorts(
  clients: Pick<Clients, 'administration' | 'conversations' | 'chat'>,
  { notify }: Pick<Config, 'notify'>,
  useEmulator: boolean,
): MessengerPorts {
  if (notify === null) throw new Error('there is no notify');
  const place = placeOf(notify.place, useEmulator);
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

/** Creates a messenger for `notify`. `platformName`: the name of the platform in records. */
export function openMessenger(
  ports: MessengerPorts,
  config: Config,
  platformName: string,
  useEmulator: boolean,
  memory: ConversationMemory,
): Messenger {
  const { notify, platform } = config;
  if (notify === null) throw new Error('there is no notify');
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
  return new Messenger(place, purpose, ports, memory);
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
