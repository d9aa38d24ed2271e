import { createHash, createHmac } from 'node:crypto';
import semver from 'semver';
import type { Identity } from './identity.ts';
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

const BUILT_IN: readonly EmulatorIntegration[] = [
  {
    name: 'webchat',
    version: '0.3.0',
    title: 'Webchat',
    description: 'Talks with visitors of a web page',
    channels: { channel: TEXT_CHANNEL },
    events: { opened: { title: 'Opened', schema: { type: 'object' } } },
  },
];

/** The integrations of the hub. Source: interface.md, Get an integration from the hub. */
export class Hub {
  readonly #integrations = new Map<string, EmulatorIntegration>();

  /** Adds the given integrations to the built-in ones. Throws on an invalid version. */
  constructor(given: readonly EmulatorIntegration[]) {
    for (const integration of [...BUILT_IN, ...given]) {
      const { name, version } = integration;
      if (semver.valid(version) === null) throw new Error(`${name}: "${version}" is not a version`);
      this.#integrations.set(`${name}@${version}`, integration);
    }
  }

  /**
   * Returns an integration by name and version: an exact one, the highest of a range, or the highest of all
   * (`latest`), where prereleases count only if there is nothing else. Null if none matches.
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

const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/**
 * Returns the Integration resource; ids and secrets are derived from name and version. Source: interface.md,
 * Integration.
 */
export function describeIntegration(integration: EmulatorIntegration, identity: Identity): object {
  const { name, version, title = name, description = '' } = integration;
  const path = `${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
  return {
    id: `intver_${createHash('sha256').update(path).digest('hex').slice(0, 26)}`,
    createdAt: PUBLISHED_AT,
    updatedAt: PUBLISHED_AT,
    identifier: { fallbackHandlerScript: '', extractScript: '' },
    url: `https://integrations.invalid/${path}`,
    signingSecret: createHmac('sha256', identity.signingSecret).update(path).digest('hex'),
    name,
    version,
    interfaces: {},
    configuration: {
      identifier: { required: false, linkTemplateScript: '' },
      schema: { type: 'object', properties: {} },
      title: '',
      description: '',
    },
    configurations: {},
    channels: integration.channels ?? {},
    states: {},
    events: integration.events ?? {},
    actions: integration.actions ?? {},
    user: { tags: {}, creation: { enabled: false, requiredTags: [] } },
    entities: {},
    dev: false,
    title,
    description,
    iconUrl: `https://integrations.invalid/${path}/icon.svg`,
    readmeUrl: `https://integrations.invalid/${path}/readme.md`,
    public: true,
    visibility: 'public',
    verificationStatus: 'unapproved',
    lifecycleStatus: 'published',
    secrets: [],
    ownerWorkspace: { id: identity.workspaceId, handle: 'emulator', name: 'Emulator' },
    meta: { installs: 0, views: 0 },
    sandbox: { identifierExtractScript: '', messageExtractScript: '' },
    maxExecutionTime: 60,
    attributes: {},
  };
}
