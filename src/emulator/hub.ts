import semver from 'semver';
import type { EmulatorIntegration } from './options.ts';

const TEXT_CHANNEL = {
  title: 'Channel',
  messages: {
    text: { schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } },
    audio: {
      schema: { type: 'object', properties: { audioUrl: { type: 'string' } }, required: ['audioUrl'] },
    },
  },
  conversation: { tags: { id: { title: 'Id' } }, creation: { enabled: true, requiredTags: [] } },
  message: { tags: {} },
};

const TICKETS_ACTION = {
  title: 'Open a ticket',
  input: { schema: { type: 'object', properties: { subject: { type: 'string' } }, required: ['subject'] } },
  output: { schema: { type: 'object', properties: { ticketId: { type: 'string' } } } },
};

const TICKETS: EmulatorIntegration = {
  name: 'tickets',
  version: '1.0.0',
  title: 'Tickets',
  description: 'An integration with several versions',
  channels: { ticket: { ...TEXT_CHANNEL, title: 'Ticket' } },
  actions: { openTicket: TICKETS_ACTION },
};

const BUILT_IN: readonly EmulatorIntegration[] = [
  {
    name: 'webchat',
    version: '0.3.0',
    title: 'Webchat',
    description: 'Talks with visitors of a web page',
    channels: { channel: TEXT_CHANNEL },
    events: { opened: { title: 'Opened', schema: { type: 'object' } } },
  },
  TICKETS,
  { ...TICKETS, version: '1.2.0' },
  { ...TICKETS, version: '1.10.1' },
  { ...TICKETS, version: '2.0.0' },
  { ...TICKETS, version: '3.0.0-beta.1' },
];

/** The integrations of the hub. Source: interface.md, Get an integration from the hub. */
export class Hub {
  readonly #integrations = new Map<string, EmulatorIntegration>();

  /** Adds the given integrations to the built-in ones. Throws when a version is none. */
  constructor(given: readonly EmulatorIntegration[]) {
    for (const integration of [...BUILT_IN, ...given]) {
      const { name, version } = integration;
      if (semver.valid(version) === null) throw new Error(`${name}: "${version}" is not a version`);
      this.#integrations.set(`${name}@${version}`, integration);
    }
  }

  /**
   * The integration of this name in the best of the versions meant: an exact one, the highest of a range, or the
   * highest of all (`latest`), where one before its release counts only if there is no other. Null when there is none.
   */
  find(name: string, wanted: string): EmulatorIntegration | null {
    const named = [...this.#integrations.values()].filter((integration) => integration.name === name);
    const versions = named.map(({ version }) => version);
    const version =
      wanted === 'latest'
        ? (semver.maxSatisfying(versions, '*') ?? semver.maxSatisfying(versions, '*', ANY_RELEASE))
        : semver.maxSatisfying(versions, wanted);
    return named.find((integration) => integration.version === version) ?? null;
  }
}

const ANY_RELEASE = { includePrerelease: true };
