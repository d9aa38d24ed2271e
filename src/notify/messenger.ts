import { failed, ok, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { ConversationChoice } from '../domain/notice.ts';
import type { ConversationRequest, MessageRequest } from '../domain/request-limits.ts';

/** What a messenger asks of the platform. Nothing is repeated here: the clients do that. */
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

/** An integration of the hub, as far as it is looked at (interface.md, Integration). */
export interface FoundIntegration {
  readonly id: string;
  readonly version?: unknown;
  /** By name. */
  readonly channels?: unknown;
}

/** Remembers the conversation that was created for a purpose, and whether a message ever arrived there. */
export interface ConversationMemory {
  readonly conversation: (purpose: string) => { readonly id: string; readonly isProven: boolean } | null;
  readonly saveConversation: (purpose: string, id: string) => void;
  readonly proveConversation: (purpose: string) => void;
  readonly forgetConversation: (purpose: string) => void;
}

type CreatedPlace = Extract<ConversationChoice, { kind: 'created' }>;

/** Sends messages to one conversation, which it creates when there is none yet. */
export class Messenger {
  readonly #place: ConversationChoice;
  readonly #purpose: string;
  readonly #ports: MessengerPorts;
  readonly #memory: ConversationMemory;

  /** @param purpose - what a conversation is created from: another purpose makes another conversation. */
  constructor(place: ConversationChoice, purpose: string, ports: MessengerPorts, memory: ConversationMemory) {
    this.#place = place;
    this.#purpose = purpose;
    this.#ports = ports;
    this.#memory = memory;
  }

  /** The conversation, if it is there already, as far as we know. */
  get known(): string | null {
    if (this.#place.kind === 'existing') return this.#place.conversationId;
    return this.#memory.conversation(this.#purpose)?.id ?? null;
  }

  /** Sees to it that there is a conversation, and gives its id. */
  async open(signal: AbortSignal): Promise<Outcome<string, LookupFailure>> {
    const { known } = this;
    if (known !== null) return ok(known);
    const place = this.#place;
    if (place.kind === 'existing') return ok(place.conversationId);
    const integrationId = await this.#findIntegration(place, signal);
    if (integrationId.kind === 'failed') return integrationId;
    const { channel, tags } = place;
    const created = await this.#ports.create({ channel, tags }, integrationId.value, signal);
    if (created.kind === 'failed') return created;
    this.#memory.saveConversation(this.#purpose, created.value.id);
    return ok(created.value.id);
  }

  /** Looks whether a conversation could be created as configured, and creates nothing. */
  async check(signal: AbortSignal): Promise<Outcome<null, LookupFailure>> {
    if (this.#place.kind === 'existing') return ok(null);
    const found = await this.#findIntegration(this.#place, signal);
    return found.kind === 'ok' ? ok(null) : found;
  }

  /** Sends a message. Gives the id of the conversation. */
  async send(payload: JsonObject, signal: AbortSignal): Promise<Outcome<string, LookupFailure>> {
    const opened = await this.open(signal);
    if (opened.kind === 'failed') return opened;
    const conversationId = opened.value;
    const sent = await this.#ports.send({ conversationId, payload }, signal);
    if (this.#place.kind === 'created') this.#learn(sent);
    return sent.kind === 'ok' ? ok(conversationId) : sent;
  }

  /**
   * A conversation that took messages and is not there any more was deleted: the next one is created. One that never
   * took any is kept: the address may be wrong, and there would be another one with every attempt.
   */
  #learn(sent: Outcome<unknown, LookupFailure>): void {
    const isProven = this.#memory.conversation(this.#purpose)?.isProven === true;
    if (sent.kind === 'ok') {
      if (!isProven) this.#memory.proveConversation(this.#purpose);
    } else if (sent.failure.kind === 'not-found' && isProven) this.#memory.forgetConversation(this.#purpose);
  }

  /** The id of the integration, if there is one to be; a channel that it does not have is refused. */
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
    // What the platform says of channels may be more or less than we know of.
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
