import { lstatSync, statSync, type Stats } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { absenceActionOf, type AbsenceAction, type FileRecord } from '../../domain/record.ts';
import { type FileKey, type RelativePath, fileKey } from '../../domain/key.ts';
import { canonicalJson } from '../../domain/json.ts';
import type { Halt } from '../../domain/guard.ts';
import { admit, prepareUpsert, type UpsertBody } from '../../domain/limits.ts';
import { scan } from '../../files/scan.ts';
import { markOfFile } from '../../files/compare-content.ts';
import type { StateReader } from '../../store/state-reader.ts';
import { describeFix, FIX_OF_REFUSED } from '../../words/obstacle.ts';
import { Claims } from './claims.ts';
import type { Explanation } from '../../domain/status.ts';
import { portsToLook, type LookAheadInput, Moves } from './look-ahead.ts';
import { outcomeOf, outcomeOfSend, type ItemOutcome } from './outcome.ts';
import { isPlannedSend, type PlanItem, type PlannedSend } from './plan-item.ts';
import { planSource } from './plan-source.ts';
import { isBehindLink, presenceOf, whyUnreadable } from '../sources/presence.ts';
import { enterSource } from '../sources/enter-source.ts';
import { checkRoot } from '../sources/root-check.ts';
import type { FoundSource, Source } from '../sources/source.ts';
import { explainRemoval, haltReason, matchingRules, recordOf } from './explanation.ts';

const VERIFY_REASONS: Readonly<Partial<Record<PlannedSend['reason'], string>>> = {
  touched: 'its time or inode changed',
  'written-recently': 'it was written shortly before it was sent',
  'in-doubt': 'a change may not show in its size and time',
  listed: 'the platform may have it already',
};

/** `nowMs`: epoch milliseconds. */
export interface ExplainInput {
  readonly config: Config;
  readonly sources: readonly FoundSource[];
  readonly state: StateReader;
  readonly nowMs: number;
}

/** Explains one path of a source by what a pass would plan for it. Does not read the content of a large file. */
export function explain(source: Source, path: RelativePath, input: ExplainInput): Explanation {
  const { config, state } = input;
  const key = fileKey(source.config.keyPrefix, path);
  const target = state.targetId(source.syncTarget);
  const stored = state.find({ target, key });
  const own = stored !== null && stored.source === source.config.name && stored.path === path ? stored : null;
  const facts = look(() => statSync(`${source.root}/${path}`));
  const subject: ExplainedFile = { source, path, key, target, stored, own, facts };
  const { action, reason, fix = null, isTried } = whyNotPlanned(subject, input) ?? planOf(subject, input);
  return {
    source: source.config.name,
    path,
    key,
    botId: source.config.botId,
    rules: matchingRules(source.rules, path, config),
    record: own && recordOf(own),
    upsert: isTried ? upsertOf(subject, input) : null,
    action,
    reason,
    fix,
  };
}

interface ExplainedFile {
  readonly source: Source;
  readonly path: RelativePath;
  readonly key: FileKey;
  readonly target: number;
  /** The record of its key, possibly of another file. */
  readonly stored: FileRecord | null;
  /** The same, if it is this file's. */
  readonly own: FileRecord | null;
  /** `undefined`: there is no such file, or it cannot be read. */
  readonly facts: Stats | undefined;
}

/** The action of a pass. `isTried`: it would send the file if nothing spoke against it. */
type Plan = Pick<Explanation, 'action' | 'reason'> & {
  readonly isTried: boolean;
  readonly fix?: string | null;
};

function without(action: Explanation['action'], reason: string): Plan {
  return { action, reason, isTried: false };
}

function tried(action: Explanation['action'], reason: string): Plan {
  return { action, reason, isTried: true };
}

/** Returns the plan of a file that a pass does not even reach; `null` if it does. */
function whyNotPlanned(
  { source, path, target, own, facts }: ExplainedFile,
  input: ExplainInput,
): Plan | null {
  const { mode } = input.config.removals;
  const ignoredBy = source.filter.whyIgnored(path);
  if (ignoredBy !== null) {
    const isLeft = own !== null && absenceActionOf(own, 'kept', mode) === 'keep';
    const left = isLeft ? '; its copy on the platform is left alone' : '';
    return without('skip', `ignored by ${ignoredBy}${left}`);
  }
  const halt = haltOf(source, target, facts !== undefined, input);
  if (halt !== null) return without('none', haltReason(halt, source.config.name, input.state));
  if (source.symlinks === 'skip' && isBehindLink(source, path))
    return without('skip', 'a directory above it is a symbolic link, and "symlinks" is "skip"');
  const isLink = look(() => lstatSync(`${source.root}/${path}`))?.isSymbolicLink() === true;
  if (facts?.isDirectory() === true && !(isLink && source.symlinks === 'skip'))
    return without('none', 'a directory: name a file in it');
  return null;
}

/**
 * Returns the halt that a pass would meet before it checks any file. `isThere`: the source has a file, so it is not
 * empty.
 */
function haltOf(
  source: Source,
  target: number,
  isThere: boolean,
  { state, config }: ExplainInput,
): Halt | null {
  const { mode } = config.removals;
  if (isThere) return checkRoot(source, target, state, false, mode)[0] ?? null;
  const entering = enterSource(source, target, state, mode, () => false);
  let step = entering.next();
  while (step.done !== true) step = entering.next();
  return step.value.kind === 'halted' ? step.value.halt : null;
}

function planOf(subject: ExplainedFile, explained: ExplainInput): Plan {
  const { config, sources, state, nowMs } = explained;
  const { source, path, key, target, own } = subject;
  const input = {
    config,
    sources,
    state,
    claims: new Claims(state, sources),
    platformNow: () => platformTime(state, nowMs),
    now: () => nowMs,
    isForced: () => false,
  };
  const moves = new Moves();
  planTwins(subject, input, moves);
  const records = moves.unmoved(target, state.recordsAt(target, source.config.name, path));
  for (const item of planSource(source, scan(source, path), records, portsToLook(input, source, moves))) {
    // Skips what the platform has under other keys.
    if (item.kind === 'tick' || (item.kind === 'absent' && item.record.key !== key)) continue;
    return isPlannedSend(item) ? ofSend(item, source) : ofItem(item, subject, explained);
  }
  return own === null ? without('none', NO_SUCH_FILE) : without('problem', UNSEEN);
}

/** Plans files of earlier sources that produce the same key at the same target, as a pass would. */
function planTwins({ source, key, target }: ExplainedFile, input: LookAheadInput, moves: Moves): void {
  const { state, claims, sources } = input;
  for (const one of sources) {
    if (one.kind === 'missing' || one.source.position >= source.position) continue;
    const { config, filter, syncTarget } = one.source;
    const prefix = config.keyPrefix.normalize('NFC');
    const path = key.slice(prefix.length) as RelativePath;
    const isSameTarget = canonicalJson({ ...syncTarget }) === canonicalJson({ ...source.syncTarget });
    if (!isSameTarget || path === '' || !key.startsWith(prefix) || filter.ignoresFile(path)) continue;
    if (presenceOf(one.source, path) !== 'there') continue;
    const records = moves.unmoved(target, state.recordsAt(target, config.name, path));
    const ports = portsToLook(input, one.source, moves);
    for (const item of planSource(one.source, scan(one.source, path), records, ports))
      if (isPlannedSend(item) && item.record === null) claims.keep(target, item.key, one.source, item.path);
  }
}

function ofSend(item: PlannedSend, source: Source): Plan {
  const unreadable = whyUnreadable(source, item.path);
  if (item.kind === 'verify' && unreadable === null)
    return tried(
      'verify',
      `${VERIFY_REASONS[item.reason] ?? item.reason}: its content is hashed, and sent if it differs`,
    );
  return ofEvent(outcomeOfSend(item, false, unreadable));
}

function ofItem(
  item: Exclude<PlanItem, PlannedSend>,
  { stored, own, target }: ExplainedFile,
  input: ExplainInput,
): Plan {
  const outcome = outcomeOf(item, item.kind === 'absent' ? own : stored, input.config.removals.mode);
  switch (item.kind) {
    case 'absent':
      if (own === null) return without('none', NO_SUCH_FILE);
      return outcome.absenceAction === 'remove'
        ? { ...explainRemoval(target, own, input), isTried: false }
        : ofAbsence(outcome.absenceAction ?? 'unknown');
    case 'hold': {
      if (stored?.differs === 'replaced') return ofEvent(outcome);
      const failure = stored?.failure ?? '';
      return stored?.state === 'synced'
        ? tried('none', `sent, and not changed since; ${failure}`)
        : { ...tried('refuse', `refused before, and not changed since: ${failure}`), fix: FIX_OF_REFUSED };
    }
    case 'pass-over':
      return without('skip', item.reason);
    case 'refuse':
      return { ...ofEvent(outcome), fix: describeFix(item.reason) };
    case 'tick':
    case 'unchanged':
    case 'problem':
    case 'skip':
      return ofEvent(outcome);
  }
}

function ofEvent({ event }: ItemOutcome): Plan {
  if (event === null) return tried('none', 'unchanged');
  return tried(event.kind === 'confirm' ? 'none' : event.kind, event.reason);
}

const NO_SUCH_FILE = 'file not found';
const UNSEEN = 'it cannot be read';

function ofAbsence(absenceAction: Exclude<AbsenceAction, 'remove'>): Plan {
  switch (absenceAction) {
    case 'unknown':
      return without('problem', UNSEEN);
    case 'forget':
    case 'none':
      return without('none', 'the file was deleted before it reached the platform');
    case 'tombstone':
      return without('none', 'the file was deleted; an empty file that expires replaces it on the platform');
    case 'keep':
      return without('keep', 'the file was deleted here, and is kept on the platform');
  }
}

function upsertOf(
  { source, path, key, facts }: ExplainedFile,
  { config, state, nowMs }: ExplainInput,
): UpsertBody | null {
  if (facts === undefined) return null;
  const resolved = source.rules.resolve(path.normalize('NFC'));
  const admission = admit(resolved, facts.size, config.limits);
  if (admission.kind !== 'send') return null;
  const { settings } = admission.resolved;
  const mark = config.platform.mark ? markOfFile(source, path, source.config.name) : null;
  const prepared = prepareUpsert(key, facts.size, settings, platformTime(state, nowMs), mark);
  return prepared.kind === 'ready' ? prepared.body : null;
}

function platformTime(state: StateReader, nowMs: number): number {
  return nowMs + state.platformAheadMs();
}

/** Returns the result of a file system call; `undefined` after an error of the file system. */
function look<T>(at: () => T): T | undefined {
  try {
    return at();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    return undefined;
  }
}
