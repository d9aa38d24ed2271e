import { failed, ok, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ConversationChoice } from '../domain/notice.ts';
import type { Destination, NotificationChannel, OutgoingAnnouncement, OutgoingMessage } from './channel.ts';
import type { ConversationRequest, MessageRequest } from '../domain/request-limits.ts';

/** The operations of the platform that a messenger uses. The clients retry, the messenger does not. */
export interface MessengerPorts {
  /** interface.md, Get an integration from the hub. */
  readonly lookUp: (
    name: string,
    version: string,
    signal: AbortSignal,
  ) => Promise<Outcome<FoundIntegration, LookupFailure>>;
  /** interface.md, Create a conversation. `integrationId` goes into `x-integration-id`; `null`: that of the config. */
  readonly create: (
    request: ConversationRequest,
    integrationId: string | null,
    signal: AbortSignal,
  ) => Promise<Outcome<{ readonly id: string }, LookupFailure>>;
  /** interface.md, Create a message. */
  readonly send: (request: MessageRequest, signal: AbortSignal) => Promise<Outcome<unknown, LookupFailure>>;
}

/** An integration of the hub (interface.md, Integration). */
export interface FoundIntegration {
  readonly id: string;
  readonly version?: unknown;
  /** By name. */
  readonly channels?: unknown;
}

/** Stores the created conversations by their purpose. Methods throw what the store throws. */
export interface ConversationMemory {
  /** The id of the recorded conversation; `null`: there is none. */
  readonly find: (purpose: string) => Promise<Outcome<string | null, LookupFailure>>;
  /** Records a new conversation. Returns the id of the one that counts: another process may have been quicker. */
  readonly save: (purpose: string, id: string) => Promise<Outcome<string, LookupFailure>>;
  /**
   * Called after a message that arrived, or that the platform refused because the conversation is missing. A conversation that had
   * received messages was deleted: it is forgotten, and the next message creates another one. Otherwise it is kept: the address may
   * be wrong, and each attempt would create another conversation.
   */
  readonly learn: (purpose: string, id: string, what: 'arrived' | 'missing') => Promise<void>;
  /** Runs tasks one after the other: two at a time would create two conversations. */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T>;
}

type CreatedPlace = Extract<ConversationChoice, { kind: 'created' }>;

/** Sends messages to one conversation, and creates it if necessary. */
export class Messenger implements NotificationChannel {
  readonly #place: ConversationChoice;
  readonly #purpose: string;
  readonly #ports: MessengerPorts;
  readonly #memory: ConversationMemory;

  /** @param purpose - the terms of the conversation's creation: another purpose has another conversation. */
  constructor(place: ConversationChoice, purpose: string, ports: MessengerPorts, memory: ConversationMemory) {
    this.#place = place;
    this.#purpose = purpose;
    this.#ports = ports;
    this.#memory = memory;
  }

  /** Creates the conversation unless it exists, and returns its id. */
  async open(signal: AbortSignal): Promise<Outcome<string, LookupFailure>> {
    const place = this.#place;
    if (place.kind === 'existing') return ok(place.conversationId);
    return await this.#memory.inTurn(() => this.#open(place, signal));
  }

  async #open(place: CreatedPlace, signal: AbortSignal): Promise<Outcome<string, LookupFailure>> {
    const known = await this.#memory.find(this.#purpose);
    if (known.kind === 'failed') return known;
    if (known.value !== null) return ok(known.value);
    const integrationId = await this.#findIntegration(place, signal);
    if (integrationId.kind === 'failed') return integrationId;
    const { channel, tags } = place;
    const created = await this.#ports.create({ channel, tags }, integrationId.value, signal);
    if (created.kind === 'failed') return created;
    return await this.#memory.save(this.#purpose, created.value.id);
  }

  /** Checks also whether the conversation could be created as configured. */
  async check(signal: AbortSignal): Promise<Outcome<Destination | null, LookupFailure>> {
    if (this.#place.kind === 'existing') return ok({ conversation: this.#place.conversationId });
    const integration = await this.#findIntegration(this.#place, signal);
    if (integration.kind === 'failed') return integration;
    const known = await this.#memory.find(this.#purpose);
    if (known.kind === 'failed') return known;
    return ok(known.value === null ? null : { conversation: known.value });
  }

  async send(
    { text }: Pick<OutgoingMessage, 'text'>,
    signal: AbortSignal,
  ): Promise<Outcome<Destination, LookupFailure>> {
    return await this.#send({ type: 'text', text }, signal);
  }

  async announce(
    { url }: Pick<OutgoingAnnouncement, 'url'>,
    signal: AbortSignal,
  ): Promise<Outcome<Destination, LookupFailure>> {
    return await this.#send({ type: 'audio', audioUrl: url }, signal);
  }

  async #send(payload: JsonObject, signal: AbortSignal): Promise<Outcome<Destination, LookupFailure>> {
    const opened = await this.open(signal);
    if (opened.kind === 'failed') return opened;
    const conversationId = opened.value;
    const sent = await this.#ports.send({ conversationId, payload }, signal);
    if (this.#place.kind === 'created') {
      const what = sent.kind === 'ok' ? 'arrived' : sent.failure.kind === 'not-found' ? 'missing' : null;
      if (what !== null) await this.#memory.learn(this.#purpose, conversationId, what);
    }
    return sent.kind === 'ok' ? ok({ conversation: conversationId }) : sent;
  }

  /** The id of the configured integration, if any. Fails when the integration lacks the channel. */
  async #findIntegration(
    { channel, integration }: CreatedPlace,
    signal: AbortSignal,
  ): Promise<Outcome<string | null, LookupFailure>> {
    if (integration === null) return ok(null);
    const { name, version } = integration;
    const found = await this.#ports.lookUp(name, version, signal);
    if (found.kind === 'failed') {
      const message = `integration ${name} ${version}: ${found.failure.message}`;
      return failed({ ...found.failure, message });
    }
    const { id, channels, version: actual } = found.value;
    // The form of channels in the answer is not certain.
    if (typeof channels !== 'object' || channels === null || Object.hasOwn(channels, channel)) return ok(id);
    const names = Object.keys(channels);
    const has = names.length === 0 ? 'it has none' : `it has ${names.map((one) => `"${one}"`).join(', ')}`;
    const what = typeof actual === 'string' ? `${name} ${actual}` : name;
    return failed({
      kind: 'refused',
      message: `notify.conversation.channel: integration ${what} has no channel "${channel}"; ${has}`,
    });
  }
}
