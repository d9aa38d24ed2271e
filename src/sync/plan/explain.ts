import { lstatSync, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { fateOf } from '../../domain/absence.ts';
import type { RelativePath } from '../../domain/brands.ts';
import { canonicalJson } from '../../domain/json.ts';
import { fileKey } from '../../domain/key.ts';
import { admit, prepareUpsert, type UpsertBody } from '../../domain/limits.ts';
import type { Absence } from '../../domain/record.ts';
import { scan } from '../../scan/scan.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { Claims } from './claims.ts';
import { planSource, type PlanItem, type PlannedSend } from './plan-source.ts';
import { isBehindLink, presenceOf, whyUnreadable } from '../sources/presence.ts';
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

/** Explains one path of a source by what a pass that came upon it would plan. Reads the file's attributes, not its content. `nowMs`: epoch milliseconds. */
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
  if (ignoredBy !== null) {
    const isLeft = own !== null && fateOf(own, 'set-aside', config.removals.mode) === 'keep';
    const left = isLeft ? '; what the platform has of it is left alone' : '';
    return without('skip', `left out by ${ignoredBy}${left}`);
  }
  const [halt] = checkRoot(source, target, state, false, config.removals.mode);
  if (halt !== undefined) return without('none', `the source is halted: ${halt.reason}`);
  if (source.symlinks === 'skip' && isBehindLink(source, path))
    return without('skip', 'a directory above it is a symbolic link, and "symlinks" is "skip"');
  const facts = look(() => statSync(`${source.root}/${path}`));
  const isLink = look(() => lstatSync(`${source.root}/${path}`))?.isSymbolicLink() === true;
  if (facts?.isDirectory() === true && !(isLink && source.symlinks === 'skip'))
    return without('none', 'a directory: name a file in it');

  const platformNowMs = nowMs + state.platformAheadMs();
  const ports = {
    target,
    claims: new Claims(state, sources),
    limits: config.limits,
    now: () => platformNowMs,
    wallClock: () => nowMs,
    isForced: () => false,
    retriesFailed: true,
    isInDoubt: () => false,
  };
  const records = state.recordsAt(target, source.config.name, path);
  for (const item of planSource(source, scan(source, path), records, ports)) {
    // What the platform holds under another key is another matter.
    if (item.kind === 'tick' || (item.kind === 'absent' && item.record.key !== key)) continue;
    return ofItem(item);
  }
  if (own === null) return without('none', 'there is no such file');
  return without('problem', 'it cannot be seen');

  function ofItem(item: Exclude<PlanItem, { kind: 'tick' }>): Explanation {
    switch (item.kind) {
      case 'pass-over':
        return without('skip', item.reason);
      case 'absent':
        return ofAbsent(item.absence);
      case 'problem':
      case 'refuse':
      case 'skip':
        return { ...about, upsert: upsert(), action: item.kind, reason: item.reason };
      case 'unchanged':
        return { ...about, upsert: upsert(), action: 'none', reason: 'unchanged' };
      case 'hold': {
        const reason = `refused before, and not changed since: ${state.find({ target, key })?.failure ?? ''}`;
        return { ...about, upsert: upsert(), action: 'refuse', reason };
      }
      case 'verify':
      case 'send':
        return ofSend(item);
    }
  }

  function ofSend({ kind, reason, record }: PlannedSend): Explanation {
    const twin = record === null ? earlierTwin(source, key, sources) : null;
    const unreadable = whyUnreadable(source, path);
    const is = (action: Explanation['action'], why: string): Explanation => ({
      ...about,
      upsert: upsert(),
      action,
      reason: why,
    });
    if (twin !== null) return is('problem', `${twin} gives the same key and stands before it`);
    if (unreadable !== null) return is('problem', unreadable);
    if (kind === 'verify') return is('verify', `${reason}: its content is hashed, and sent if it is another`);
    return is(reason === 'renewal-due' ? 'renew' : 'upload', reason);
  }

  function ofAbsent(absence: Absence | null): Explanation {
    if (own === null) return without('none', 'there is no such file');
    switch (fateOf(own, absence, config.removals.mode)) {
      case 'unknown':
        return without('problem', 'it cannot be seen');
      case 'forget':
      case 'none':
        return without('none', 'the file is gone, and it never got to the platform');
      case 'tombstone':
        return without('none', 'the file was removed, and an empty one that expires stands in its place');
      case 'remove':
        return without('remove', 'the file was removed, and removals.mode is "expire"');
      case 'keep':
        return without('keep', 'there is no such file any more, and what is on the platform is left alone');
    }
  }

  /** What would be sent, were it sent. */
  function upsert(): UpsertBody | null {
    if (facts === undefined) return null;
    const admission = admit(resolved, facts.size, config.limits);
    if (admission.kind !== 'send') return null;
    const prepared = prepareUpsert(key, facts.size, admission.resolved.settings, platformNowMs);
    return prepared.kind === 'ready' ? prepared.body : null;
  }
}

/** A file of an earlier source that gives the same key at the same target. */
function earlierTwin(source: Source, key: string, sources: readonly FoundSource[]): string | null {
  for (const one of sources) {
    if (one.kind === 'missing' || one.source.position >= source.position) continue;
    const { config, filter, syncTarget } = one.source;
    const prefix = config.keyPrefix.normalize('NFC');
    const path = key.slice(prefix.length);
    const isSameTarget = canonicalJson({ ...syncTarget }) === canonicalJson({ ...source.syncTarget });
    if (!isSameTarget || path === '' || !key.startsWith(prefix) || filter.ignoresFile(path)) continue;
    if (presenceOf(one.source, path) === 'there') return `${config.name}:${path}`;
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
