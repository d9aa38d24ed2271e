import { dirname, resolve } from 'node:path';
import type { BotId } from '../domain/key.ts';
import type { Rule } from '../domain/rules.ts';
import type { RuleSettings } from '../domain/settings.ts';
import type {
  ClusterConfig,
  Config,
  NotificationPlace,
  PlatformConfig,
  SecretReference,
  SourceConfig,
} from './config.ts';
import { defaultName } from './cross-checks.ts';
import type { WrittenConfig } from './schema.ts';

/**
 * Returns the configuration that a valid and cross-checked file means. `file` is absolute; relative paths start at its
 * directory. `machine`: the host name of this machine.
 */
export function buildConfig(written: WrittenConfig, file: string, machine: string): Config {
  const directory = dirname(file);
  const { limits, removals, upload, watch, service } = written;
  return {
    file,
    platform: buildPlatform(written.platform, directory),
    sources: written.sources.map((source) => buildSource(source, written.platform.botId, directory)),
    rules: written.rules.map(buildRule),
    limits: { ...limits, indexableExtensions: [...new Set(limits.indexableExtensions)] },
    removals: {
      mode: removals.mode,
      delayMs: removals.delay,
      maxCount: removals.maxCount,
      maxFraction: removals.maxFraction,
    },
    upload: {
      concurrency: upload.concurrency,
      attempts: upload.attempts,
      stallTimeoutMs: upload.stallTimeout,
      giveUpAfterMs: upload.giveUpAfter,
      maxBytesPerSecond: upload.maxBytesPerSecond,
      maxRequestsPerSecond: upload.maxRequestsPerSecond,
    },
    confirm: { waitMs: written.confirm.wait },
    verify: { everyMs: written.verify.every, repair: written.verify.repair },
    watch: {
      settleMs: watch.settle,
      maxDelayMs: watch.maxDelay,
      rescanMs: watch.rescan,
      poll: watch.poll,
      pollIntervalMs: watch.pollInterval,
    },
    service: {
      listen: service.listen,
      control: service.control === null ? null : buildReference(service.control, directory),
      hangTimeoutMs: service.hangTimeout,
      reloadOnChange: service.reloadOnChange,
    },
    notify: written.notify === undefined ? null : buildNotify(written.notify, directory),
    cluster: written.cluster === undefined ? null : buildCluster(written.cluster, directory, machine),
    stateFile: resolve(directory, written.stateFile),
  };
}

function buildPlatform(written: WrittenConfig['platform'], directory: string): PlatformConfig {
  const { baseUrl, chatUrl, workspaceId, botId, token, chat, operations, mark, identity } = written;
  return {
    baseUrl,
    chatUrl,
    workspaceId: workspaceId ?? null,
    botId: botId === undefined ? null : asBotId(botId),
    token: token === undefined ? null : buildReference(token, directory),
    chat:
      chat === undefined
        ? null
        : { webhookId: chat.webhookId, userKey: buildReference(chat.userKey, directory) },
    operations,
    mark,
    identity,
  };
}

function buildReference(written: SecretReference, directory: string): SecretReference {
  return written.kind === 'file' ? { kind: 'file', path: resolve(directory, written.path) } : written;
}

function buildSource(
  written: WrittenConfig['sources'][number],
  platformBotId: string | undefined,
  directory: string,
): SourceConfig {
  const botId = written.botId ?? platformBotId;
  if (botId === undefined) throw new Error('a source without a bot passed the cross-checks');
  return {
    name: written.name ?? defaultName(written.directory, directory),
    directory: resolve(directory, written.directory),
    keyPrefix: written.keyPrefix,
    botId: asBotId(botId),
    token: written.token === undefined ? null : buildReference(written.token, directory),
    ignore: written.ignore,
    symlinks: written.symlinks,
  };
}

function buildCluster(
  written: NonNullable<WrittenConfig['cluster']>,
  directory: string,
  machine: string,
): ClusterConfig {
  return {
    database: buildReference(written.database, directory),
    schema: written.schema,
    host: written.host ?? machine,
    leaseMs: written.lease,
    suspectAfterMs: written.suspectAfter,
  };
}

/** `set` has exactly the fields that the rule mentions: an absent field leaves earlier rules alone, `null` unsets. */
function buildRule(written: WrittenConfig['rules'][number]): Rule {
  const { match, source, expiresIn, expiresAt, renewBefore, ...same } = written;
  const expires: RuleSettings['expires'] =
    typeof expiresIn === 'number'
      ? { kind: 'in', lifetimeMs: expiresIn }
      : typeof expiresAt === 'number'
        ? { kind: 'at', atMs: expiresAt }
        : null;
  const mentionsExpiry = expiresIn !== undefined || expiresAt !== undefined;
  return {
    match,
    sources: source ?? null,
    set: {
      ...same,
      ...(mentionsExpiry && { expires }),
      ...(renewBefore !== undefined && { renewBeforeMs: renewBefore }),
    },
  };
}

function buildNotify(
  written: NonNullable<WrittenConfig['notify']>,
  directory: string,
): NonNullable<Config['notify']> {
  const { on, quiet, summaryEvery, announce } = written;
  return {
    place: buildPlace(written, directory),
    on: new Set(on),
    quietMs: quiet,
    summaryEveryMs: summaryEvery,
    announce: announce.flatMap(({ match }) => match),
  };
}

function buildPlace(
  { conversationId, conversation, webhook }: NonNullable<WrittenConfig['notify']>,
  directory: string,
): NotificationPlace {
  if (webhook !== undefined) return { kind: 'webhook', url: buildReference(webhook, directory) };
  if (conversationId !== undefined) return { kind: 'existing', conversationId };
  if (conversation === undefined) throw new Error('a notify without a place passed the cross-checks');
  const { channel, tags, integration = null } = conversation;
  return { kind: 'created', channel, tags, integration };
}

/** The schema has checked that the id can be sent in a header. */
function asBotId(text: string): BotId {
  return text as BotId;
}
