import { quoteForShell } from '../../config/problem.ts';
import type { Config } from '../../config/config.ts';
import { type FileRecord, differenceOf } from '../../domain/record.ts';
import { type RelativePath, fileKey } from '../../domain/key.ts';
import { guardRemovals, REMOVAL_WINDOW_MS, type Halt, type RemovalExcess } from '../../domain/guard.ts';
import type { StateReader } from '../../store/state-reader.ts';
import type { Explanation, PlatformWord } from '../../domain/status.ts';
import { type FoundSource, targetOf } from '../sources/source.ts';
import { formatDuration } from '../../config/duration.ts';
import { describeRemovals, describeHalt } from '../../words/halt.ts';
import { mayBeServed } from '../catalog/served-catalog.ts';
import { suggestContentType, compileRules, type RuleBook } from '../../domain/rules.ts';
import { describeFailure } from '../../words/obstacle.ts';

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
    fix: null,
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

/** `nowMs`: epoch milliseconds. */
interface RemovalInput {
  readonly config: Config;
  readonly state: StateReader;
  readonly nowMs: number;
}

/** Returns what a pass would do about a file to remove, and why. */
export function explainRemoval(
  target: number,
  own: FileRecord,
  input: RemovalInput,
): { readonly action: 'remove' | 'keep'; readonly reason: string } {
  const { delayMs } = input.config.removals;
  const excess = haltOnRecord(target, own, input);
  if (excess !== null) {
    const reason = describeRemovals(excess);
    const { source } = own;
    const isHalted = isHaltedBy('mass-removal', source, input.state);
    const how = `run: botsync approve ${quoteForShell(source)}, or without the service botsync sync --once --allow-removals`;
    return {
      action: 'keep',
      reason: isHalted
        ? `the file was deleted, but the source is halted: ${reason}; ${how}`
        : `the file was deleted, but the next pass will halt the source, the service ${formatDuration(delayMs)} after it noticed the deletion at the latest: ${reason}; then, if that is right, ${how}`,
    };
  }
  if (own.absence === 'pruned')
    return { action: 'remove', reason: 'the file was kept on the platform, and is removed by botsync prune' };
  if (own.absence === 'orphan')
    return {
      action: 'remove',
      reason: 'the file was found on the platform without a record, and is removed by botsync verify --prune',
    };
  const when = `a single pass does it at once, the service ${formatDuration(delayMs)} after it noticed the deletion`;
  return { action: 'remove', reason: `the file was deleted, and ${howItGoes(target, input)}; ${when}` };
}

/**
 * Returns why too many removals would halt the source, as far as they are recorded, including this file. Other missing
 * files are known only after a walk.
 */
function haltOnRecord(
  target: number,
  { source, absence }: FileRecord,
  { config, state, nowMs }: RemovalInput,
): RemovalExcess | null {
  const { present, removed } = state.countRecorded(target, source);
  const wanted = absence === null || absence === 'kept' ? removed + 1 : removed;
  const recent = state.countRemovals(source, nowMs - REMOVAL_WINDOW_MS);
  return guardRemovals(wanted, recent, present + removed + recent, config.removals);
}
function howItGoes(target: number, { config, state, nowMs }: RemovalInput): string {
  const { mode } = config.removals;
  const written = `removals.mode is "${mode}"`;
  const isLetExpire = 'is emptied there and expires';
  if (mode !== 'delete') return `${isLetExpire}: ${written}`;
  if (config.platform.operations === 'specified')
    return `${isLetExpire}: ${written}, but platform.operations is "specified"`;
  const isServed = (['get', 'delete'] as const).every((operation) =>
    mayBeServed(state.remote.unserved(target, operation), nowMs),
  );
  return isServed
    ? `is deleted there if it is still the one that was sent: ${written}`
    : `${isLetExpire}: ${written}, but the platform did not serve that`;
}
