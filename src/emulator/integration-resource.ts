import { createHash, createHmac } from 'node:crypto';
import type { EmulatorIntegration } from './options.ts';
import type { Platform } from './platform.ts';

/** When every integration of the emulated hub was published. */
const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/** The Integration resource; ids and secrets follow from name and version. Source: interface.md, Integration. */
export function describeIntegration(integration: EmulatorIntegration, platform: Platform): object {
  const { name, version, title = name, description = '' } = integration;
  const path = `${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
  return {
    id: `intver_${createHash('sha256').update(path).digest('hex').slice(0, 26)}`,
    createdAt: PUBLISHED_AT,
    updatedAt: PUBLISHED_AT,
    identifier: { fallbackHandlerScript: '', extractScript: '' },
    url: `https://integrations.invalid/${path}`,
    signingSecret: createHmac('sha256', platform.identity.signingSecret).update(path).digest('hex'),
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
    ownerWorkspace: { id: platform.identity.workspaceId, handle: 'emulator', name: 'Emulator' },
    meta: { installs: 0, views: 0 },
    sandbox: { identifierExtractScript: '', messageExtractScript: '' },
    maxExecutionTime: 60,
    attributes: {},
  };
}
