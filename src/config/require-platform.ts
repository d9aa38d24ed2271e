import { ownTokenPosition } from './config.ts';
import type { LoadedConfig } from './load-config.ts';
import { formatField, type ConfigProblem, type FieldPath } from './problem.ts';
import { isPlaceholder } from './values.ts';

/** The operations of a command on the platform: different ones need different fields. */
export type PlatformUse = 'files' | 'admin' | 'conversation' | 'message' | 'notify';

/**
 * Returns what a configuration lacks for a run against the real platform: missing fields, and placeholders from the
 * example. The emulator needs none of these fields.
 */
export function requirePlatform(loaded: LoadedConfig, use: PlatformUse): ConfigProblem[] {
  const { file, locate } = loaded;
  return fieldsFor(loaded, use).flatMap(({ path, value, example }): ConfigProblem[] => {
    const place = { file, position: locate(path), field: formatField(path) };
    if (value === null)
      return [{ ...place, message: `is missing but needed here; write for example ${example}` }];
    if (isPlaceholder(value))
      return [{ ...place, message: 'is still the placeholder from the example; write your own' }];
    return [];
  });
}

interface NeededField {
  readonly path: FieldPath;
  /** `null`: missing. */
  readonly value: string | null;
  readonly example: string;
}

function fieldsFor(loaded: LoadedConfig, use: PlatformUse): NeededField[] {
  const { config } = loaded;
  const { platform, sources } = config;
  const token = needed(['platform', 'token'], platform.token?.kind ?? null, '"env:BOTSYNC_TOKEN"');
  const bot = needed(['platform', 'botId'], platform.botId, '"8f2b6c1e-4d55-4c9e-8a5e-0c7d5b1f2a33"');
  const identity = Object.entries(platform.identity).map(([name, value]: [string, string]) =>
    needed(['platform', 'identity', name], value),
  );
  switch (use) {
    case 'files': {
      const own = sources.flatMap(({ botId }, position) =>
        botId === platform.botId ? [] : [needed(['sources', position, 'botId'], botId)],
      );
      const shared = sources.some(({ botId }) => botId === platform.botId) ? [bot] : [];
      const isShared = sources.some(({ botId }) => ownTokenPosition(config, botId) === -1);
      return [...shared, ...(isShared ? [token] : []), ...identity, ...own];
    }
    case 'admin':
      return [needed(['platform', 'workspaceId'], platform.workspaceId, '"wkspace_01JABCDEFGH"'), token];
    case 'conversation':
      return [bot, ...(ownTokenPosition(config, platform.botId ?? '') === -1 ? [token] : []), ...identity];
    case 'message': {
      const example =
        '{ "webhookId": "0d3c1f6e-6a0c-4f0e-9a3f-1d2e3c4b5a69", "userKey": "env:BOTSYNC_USER_KEY" }';
      return platform.chat === null
        ? [needed(['platform', 'chat'], null, example)]
        : [needed(['platform', 'chat', 'webhookId'], platform.chat.webhookId)];
    }
    case 'notify': {
      const place = config.notify?.place;
      if (place === undefined || place.kind === 'webhook') return [];
      const ids =
        place.kind === 'existing' ? [needed(['notify', 'conversationId'], place.conversationId)] : [];
      const created = place.kind === 'created' ? fieldsFor(loaded, 'conversation') : [];
      const hub = place.kind === 'created' && place.integration !== null ? fieldsFor(loaded, 'admin') : [];
      const own = [...ids, ...fieldsFor(loaded, 'message'), ...created, ...hub];
      return own.filter(({ path }, at) => own.findIndex((one) => one.path.join() === path.join()) === at);
    }
  }
}

function needed(path: FieldPath, value: string | null, example = 'your own'): NeededField {
  return { path, value, example };
}
