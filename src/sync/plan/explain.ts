import { lstatSync, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import type { RelativePath } from '../../domain/brands.ts';
import { decide } from '../../domain/decide.ts';
import { fingerprintOf } from '../../domain/fingerprint.ts';
import { canonicalJson } from '../../domain/json.ts';
import { fileKey } from '../../domain/key.ts';
import { admit, prepareUpsert, type UpsertBody } from '../../domain/limits.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { Claims } from './claims.ts';
import { isBehindLink, presenceOf } from '../sources/presence.ts';
import { checkRoot } from '../sources/root-check.ts';
import type { FoundSource, Source } from '../sources/source.ts';

/** Everything there is to say of one file. Moments are ISO 8601, sizes bytes. */
export interface Explanation {
  readonly source: string;
  readonly path: string;
  readonly key: string;
  readonly botId: string;
  /** The rules that matched, by their place in the config (from 0), with their patterns. */
  readonly rules: readonly { readonly rule: number; readonly match: readonly string[] }[];
  /** The body of the upsert that would be sent now; `null` when none can be. */
  readonly upsert: UpsertBody | null;
  /** What is remembered of it; `null`: nothing. */
  readonly record: {
    readonly state: string;
    readonly sha256: string | null;
    readonly expiresAt: string | null;
    readonly failure: string | null;
    readonly changedAt: string;
  } | null;
  /** What a pass would do now. */
  readonly action: 'upload' | 'renew' | 'verify' | 'none' | 'skip' | 'refuse' | 'problem' | 'remove' | 'keep';
  readonly reason: string;
}

/** Explains one path of a source. Reads the file's attributes, not its content. `nowMs`: epoch milliseconds. */
export function explain(
  source: Source,
  path: RelativePath,
  sources: readonly FoundSource[],
  config: Config,
  state: StateReader,
  nowMs: number,
): Explanation {
  const key = fileKey(source.config.keyPrefix, path);
  const target = state.targetId(source.syncTarget);
  const stored = state.find({ target, key });
  const own = stored !== null && stored.source === source.config.name && stored.path === path ? stored : null;
  const normal = path.normalize('NFC');
  const resolved = source.rules.resolve(normal);
  const about = {
    source: source.config.name,
    path,
    key,
    botId: source.config.botId,
    rules: source.rules.matching(normal).map((rule) => ({ rule, match: config.rules[rule]?.match ?? [] })),
    record: own && {
      state: own.absence === null ? own.state : `${own.state}, ${own.absence}`,
      sha256: own.sha256?.toString('hex') ?? null,
      expiresAt: own.expiresAtMs === null ? null : new Date(own.expiresAtMs).toISOString(),
      failure: own.failure,
      changedAt: new Date(own.changedAtMs).toISOString(),
    },
  };
  const without = (action: Explanation['action'], reason: string): Explanation => ({
    ...about,
    upsert: null,
    action,
    reason,
  });

  const ignoredBy = source.filter.whyIgnored(path);
  if (ignoredBy !== null) return without('skip', `left out by ${ignoredBy}`);
  const full = `${source.root}/${path}`;
  const [halt] = checkRoot(source, target, state, false, config.removals.mode);
  if (halt !== undefined) return without('none', `the source is halted: ${halt.reason}`);
  if (source.symlinks === 'skip' && isBehindLink(source.root, path)) {
    return without('skip', 'a directory above it is a symbolic link, and "symlinks" is "skip"');
  }
  const link = look(() => lstatSync(full));
  if (link === undefined) {
    if (own === null) return without('none', 'there is no such file');
    if (own.state === 'removing' && own.expiresAtMs !== null) {
      return without('none', 'the file was removed, and an empty one that expires stands in its place');
    }
    return config.removals.mode === 'expire' && own.uploaded
      ? without('remove', 'the file was removed, and removals.mode is "expire"')
      : without('keep', 'the file was removed, and what is on the platform is left alone');
  }
  if (link.isSymbolicLink() && source.symlinks === 'skip')
    return without('skip', 'a symbolic link, and "symlinks" is "skip"');
  const facts = look(() => statSync(full, { bigint: true }));
  if (facts?.isFile() !== true) return without('skip', 'not a regular file');

  const sizeBytes = Number(facts.size);
  const admission = admit(resolved, sizeBytes, config.limits);
  if (admission.kind !== 'send') return without(admission.kind, admission.reason);
  const prepared = prepareUpsert(key, sizeBytes, admission.resolved.settings, nowMs);
  const upsert = prepared.kind === 'ready' ? prepared.body : null;
  let record = own;
  if (own === null) {
    const claim = new Claims(state, sources).claim(target, key, source, path);
    const twin = claim.kind === 'free' ? earlierTwin(source, key, sources) : null;
    if (twin !== null) {
      return {
        ...about,
        upsert,
        action: 'problem',
        reason: `${twin} gives the same key and stands before it`,
      };
    }
    if (claim.kind === 'taken') {
      return {
        ...about,
        upsert,
        action: 'problem',
        reason: `${claim.source}:${claim.path} has this key and keeps it`,
      };
    }
    if (claim.kind === 'adopt') ({ record } = claim);
  }
  const decision = decide(
    { fingerprint: fingerprintOf(facts), resolved: admission.resolved },
    record,
    nowMs + state.platformAheadMs(),
    false,
  );
  const is = (action: Explanation['action'], reason: string): Explanation => ({
    ...about,
    upsert,
    action,
    reason,
  });
  switch (decision.kind) {
    case 'none':
      return is('none', 'unchanged');
    case 'hold':
      return is('refuse', `refused before, and not changed since: ${record?.failure ?? ''}`);
    case 'verify':
      return is('verify', `${decision.reason}: its content is hashed, and sent if it is another`);
    case 'send':
      if (prepared.kind === 'refuse') return is('refuse', prepared.reason);
      return is(decision.reason === 'renewal-due' ? 'renew' : 'upload', decision.reason);
  }
}

/** A file of an earlier source that gives the same key at the same target. */
function earlierTwin(source: Source, key: string, sources: readonly FoundSource[]): string | null {
  for (const one of sources) {
    if (one.kind === 'missing' || one.source.position >= source.position) continue;
    const { config, root, filter, syncTarget } = one.source;
    const path = key.slice(config.keyPrefix.length);
    const isSameTarget = canonicalJson({ ...syncTarget }) === canonicalJson({ ...source.syncTarget });
    if (!isSameTarget || path === '' || !key.startsWith(config.keyPrefix) || filter.ignoresFile(path))
      continue;
    if (presenceOf(`${root}/${path}`) === 'there') return `${config.name}:${path}`;
  }
  return null;
}

/** What a look at the file system gives; `undefined` where there is nothing, or nothing that can be seen. */
function look<T>(at: () => T): T | undefined {
  try {
    return at();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
