import type { Config } from '../../config/config.ts';
import type { RelativePath } from '../../domain/brands.ts';
import { suggestContentType } from '../../domain/content-type.ts';
import { fileKey } from '../../domain/key.ts';
import type { UpsertBody } from '../../domain/limits.ts';
import type { Difference, Verdict } from '../../domain/record.ts';
import type { EventKind } from '../../domain/report.ts';
import { compileRules, type RuleBook } from '../../domain/rules.ts';
import type { RemoteFile } from '../../state/remote.ts';
import type { StateReader, StoredFile } from '../../state/state-reader.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';

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
    /** What the platform says of it since it was sent. */
    readonly platform: PlatformWord;
    /** What the platform was found to have otherwise; `null`: nothing, as far as is known. */
    readonly differs: Difference | null;
  } | null;
  /** What a pass would do now. */
  readonly action: Exclude<EventKind, 'confirm'> | 'verify' | 'none' | 'keep';
  readonly reason: string;
}

/** What the platform says of a file. Moments are ISO 8601; `null`: there is none. */
export interface PlatformWord {
  /** What became of it for good; `null`: that is not known. */
  readonly verdict: Verdict | null;
  readonly sentAt: string | null;
  /** When it was asked last. */
  readonly askedAt: string | null;
  /** When it is asked next. */
  readonly nextAskAt: string | null;
}

/** What is known of a file that cannot be checked. */
interface UnseenInput {
  readonly config: Config;
  readonly platformName: string;
  readonly state: StateReader;
}

/** Explains one path of a source whose directory cannot be checked: nothing is done for it, and what is on record stays. */
export function explainUnseen(
  { config: source, halt }: Extract<FoundSource, { kind: 'missing' }>,
  path: RelativePath,
  { config, state, platformName }: UnseenInput,
): Explanation {
  const key = fileKey(source.keyPrefix, path);
  const target = state.targetId(targetOf(config, source, platformName));
  const stored = state.find({ target, key });
  const isOwn = stored !== null && stored.source === source.name && stored.path === path;
  return {
    source: source.name,
    path,
    key,
    botId: source.botId,
    rules: matchingRules(compileRules(config.rules, source.name, suggestContentType), path, config),
    record: isOwn ? recordOf(stored, state.remote.find({ target, key })) : null,
    upsert: null,
    action: 'none',
    reason: `the source is halted: ${halt.reason}`,
  };
}

/** The rules that match a path, by their place in the config. */
export function matchingRules(rules: RuleBook, path: RelativePath, config: Config): Explanation['rules'] {
  return rules
    .matching(path.normalize('NFC'))
    .map((rule) => ({ rule, match: config.rules[rule]?.match ?? [] }));
}

/** What is remembered of a file. */
export function recordOf(stored: StoredFile, remote: RemoteFile | null): Explanation['record'] {
  const { state, absence, sha256, expiresAtMs, failure, changedAtMs, differs } = stored;
  return {
    state: absence === null ? state : `${state}, ${absence}`,
    sha256: sha256?.toString('hex') ?? null,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    failure,
    changedAt: new Date(changedAtMs).toISOString(),
    platform: wordOf(remote),
    differs,
  };
}

function wordOf(remote: RemoteFile | null): PlatformWord {
  const { verdict = null, sentAtMs = null, askedAtMs = null, askAtMs = null } = remote ?? {};
  const moment = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  const nextAskAt = verdict === null ? moment(askAtMs) : null;
  return { verdict, sentAt: moment(sentAtMs), askedAt: moment(askedAtMs), nextAskAt };
}
