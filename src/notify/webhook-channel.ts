import { ok, type LookupFailure, type Outcome } from '../domain/failure.ts';
import type { JsonObject } from '../domain/json.ts';
import type { Destination, NotificationChannel, OutgoingAnnouncement, OutgoingMessage } from './channel.ts';

export interface WebhookPorts {
  /** The address without its secret part. */
  readonly origin: string;
  readonly post: (body: JsonObject, signal: AbortSignal) => Promise<Outcome<unknown, LookupFailure>>;
  /** Epoch milliseconds. */
  readonly now: () => number;
}

/** Posts notifications as JSON (docs/OPERATIONS.md, Notifications). */
export class WebhookChannel implements NotificationChannel {
  readonly #host: string;
  readonly #ports: WebhookPorts;

  /** @param host - as in the texts of messages. */
  constructor(host: string, ports: WebhookPorts) {
    this.#host = host;
    this.#ports = ports;
  }

  check(): Promise<Outcome<Destination>> {
    return Promise.resolve(ok({ webhook: this.#ports.origin }));
  }

  open(): Promise<Outcome<null>> {
    return Promise.resolve(ok(null));
  }

  send(message: OutgoingMessage, signal: AbortSignal): Promise<Outcome<Destination, LookupFailure>> {
    return this.#post({ ...message }, signal);
  }

  announce(
    { key, url }: OutgoingAnnouncement,
    signal: AbortSignal,
  ): Promise<Outcome<Destination, LookupFailure>> {
    return this.#post({ text: `${key}: ${url}`, event: 'announcement', key, url }, signal);
  }

  async #post(body: JsonObject, signal: AbortSignal): Promise<Outcome<Destination, LookupFailure>> {
    const { origin, post, now } = this.#ports;
    const at = new Date(now()).toISOString();
    const posted = await post({ ...body, host: this.#host, at }, signal);
    return posted.kind === 'ok' ? ok({ webhook: origin }) : posted;
  }
}
