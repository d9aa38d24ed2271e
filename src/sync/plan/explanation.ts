import type { Config } from '../../config/config.ts';
import { type RelativePath, fileKey } from '../../domain/key.ts';
import { suggestContentType, compileRules, type RuleBook } from '../../domain/rules.ts';
import { differenceOf, type FileRecord } from '../../domain/record.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { describeFailure } from '../../words/obstacle.ts';
import { targetOf, type FoundSource } from '../sources/source.ts';
import type { Explanation, PlatformWord } from '../../domain/status.ts';
import { describeHalt } from '../../words/halt.ts';
import type { Halt } from '../../domain/guard.ts';

interface UnseenInput {
  readonly config: Config;
  readonly platformName: string;
  readonly state: StateReader;
}

/** Explains one path of a source whose directory cannot be checked: nothing is done, and its record stays. */
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
    record: isOwn ? recordOf(stored) : null,
    upsert: null,
    action: 'none',
    reason: haltReason(halt, source.name, state),
  };
}

/** Returns the rules that match a path, with their positions in the config. */
export function matchingRules(rules: RuleBook, path: RelativePath, config: Config): Explanation['rules'] {
  return rules
    .matching(path.normalize('NFC'))
    .map((rule) => ({ rule, match: config.rules[rule]?.match ?? [] }));
}

/** Returns a file's record for an explanation. */
export function recordOf(stored: FileRecord): Explanation['record'] {
  const { state, absence, sha256, expiresAtMs, changedAtMs } = stored;
  return {
    state: absence === null ? state : `${state}, ${absence}`,
    sha256: sha256?.toString('hex') ?? null,
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    failure: describeFailure(stored),
    changedAt: new Date(changedAtMs).toISOString(),
    platform: wordOf(stored),
    differs: differenceOf(stored),
  };
}

function wordOf({ verdict, sentAtMs, askedAtMs, askAtMs }: FileRecord): PlatformWord {
  const moment = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());
  const nextAskAt = verdict === null ? moment(askAtMs) : null;
  return { verdict, sentAt: moment(sentAtMs), askedAt: moment(askedAtMs), nextAskAt };
}

/** Returns whether such a halt is on record; otherwise the next pass would be the first to halt the source. */
export function isHaltedBy(kind: Halt['kind'], source: string, state: StateReader): boolean {
  return state.source(source)?.halt?.kind === kind;
}

/** Returns the explanation of a halt that a pass would meet. */
export function haltReason(halt: Halt, source: string, state: StateReader): string {
  return `the source ${isHaltedBy(halt.kind, source, state) ? 'is' : 'would be'} halted: ${describeHalt(halt)}`;
}
