import type { JsonObject } from '../../src/domain/json.ts';
import type { Target } from './target.ts';

/** What a client got; of a failure only what all clients can tell apart. */
export type Got<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'unauthorized' | 'not-found' | 'refused' | 'other' };

/** A resource of the platform as JSON. */
export type Resource = Readonly<Record<string, unknown>>;

/** A file to send, entry and content. */
export interface FileToStore {
  readonly key: string;
  readonly content: string;
  readonly contentType?: string;
  readonly index?: boolean;
  readonly tags?: Readonly<Record<string, string>>;
  readonly metadata?: JsonObject;
  readonly accessPolicies?: readonly ('public_content' | 'integrations')[];
  readonly publicContentImmediatelyAccessible?: true;
  /** ISO 8601. */
  readonly expiresAt?: string;
}

/** The five operations of interface.md through one client. */
export interface Driver {
  /** All bots, whatever the pages. */
  listBots(): Promise<Got<readonly Resource[]>>;
  /** Upsert and upload. */
  storeFile(file: FileToStore): Promise<Got<null>>;
  getIntegration(name: string, version: string): Promise<Got<Resource>>;
  createConversation(body: {
    channel: string;
    tags: Record<string, string>;
    integrationName?: string;
  }): Promise<Got<Resource>>;
  createMessage(body: {
    conversationId: string;
    payload: JsonObject & { type: string };
  }): Promise<Got<Resource>>;
  close(): Promise<void>;
}

/** A client that the cases run through. */
export interface DriverChoice {
  readonly name: string;
  readonly connect: (target: Target) => Driver;
}
