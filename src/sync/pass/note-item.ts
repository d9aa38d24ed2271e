import type { Problem } from '../../store/problems.ts';
import { placeOf } from '../../words/place.ts';
import { describeObstacle } from '../../words/obstacle.ts';
import type { WalkContext } from './sync-context.ts';
import { outcomeOf } from '../plan/outcome.ts';
import type { PlanItem, PlannedSend } from '../plan/plan-item.ts';
import type { Source } from '../sources/source.ts';

/** Counts, reports and records an item of a plan that sends nothing. */
export function noteItem(
  item: Exclude<PlanItem, PlannedSend>,
  source: Source,
  target: number,
  context: WalkContext,
): void {
  const { state, summary, config, clock, emit } = context;
  const name = source.config.name;
  if (item.kind === 'absent') {
    noteAbsent(item, source, target, context);
    return;
  }
  const known = item.kind === 'hold' ? state.find({ target, key: item.key }) : null;
  const { counts, event, unsent, absence } = outcomeOf(item, known, config.removals.mode);
  const record = 'record' in item ? item.record : null;
  if (record !== null && absence !== undefined && record.absence !== absence)
    state.setAbsence({ target, key: record.key }, absence, clock.now());
  if (item.kind === 'unchanged' && item.renewAtMs !== item.record.renewAtMs)
    state.setRenewal({ target, key: item.key }, item.renewAtMs);
  if (unsent !== null && 'path' in item) context.round.unsent.add(name, item.path, unsent);
  if (item.kind === 'refuse' || item.kind === 'problem') {
    const { kind, path, key, reason } = item;
    noteProblem(context, { source: name, path, key, kind, reason });
    return;
  }
  if (counts !== null) summary[counts] += 1;
  if (event === null) return;
  const { kind, path, key, reason, error } = event;
  const failure = error === undefined ? null : ({ outcome: 'failed', error } as const);
  // A recorded failure was reported when it was recorded.
  emit({
    kind: 'file',
    file: { kind, source: name, path, key, reason, ...failure },
    isKnown: item.kind === 'hold',
  });
}

/** Counts, reports and records a file that was not sent and has no record to note that in. */
export function noteProblem(
  { state, summary, emit, round }: WalkContext,
  problem: Problem & { readonly kind: 'refuse' | 'problem' },
): void {
  const { kind, source, path, key, reason } = problem;
  summary[kind === 'refuse' ? 'refused' : 'problems'] += 1;
  const isKnown = state.problems.has(problem);
  state.problems.note(problem, round.pass);
  // The order of fields in JSON Lines is the same for all events.
  emit({ kind: 'file', file: { kind, source, path, key, reason: describeObstacle(reason) }, isKnown });
}

function noteAbsent(
  item: Extract<PlanItem, { kind: 'absent' }>,
  source: Source,
  target: number,
  { state, summary, config, clock, emit, keyLocks, changeFeed, claims }: WalkContext,
): void {
  const { record } = item;
  const id = { target, key: record.key };
  if (item.absence === null) return;
  for (const other of claims.takeOthers(target, record.key)) changeFeed.rescan(other.source, other.path);
  if (keyLocks.has(id)) {
    // The outcome, and so the record, is known only when the task ends.
    void keyLocks.ended(id).then(() => {
      changeFeed.rescan(source.config.name, record.path);
    });
    return;
  }
  // The record may come from a page that was read earlier.
  const now = state.find(id);
  if (now === null || now.path !== record.path) return;
  const { absenceAction, absence } = outcomeOf(item, now, config.removals.mode);
  if (absenceAction === 'forget') {
    state.forget(id);
    return;
  }
  if (absence !== undefined && absence !== now.absence) {
    state.setAbsence(id, absence, clock.now());
    if (absenceAction === 'keep' && item.absence === 'removed')
      emit({
        kind: 'notice',
        message: `deleted here, kept on the platform: ${placeOf(source.config.name, record.path)}`,
      });
  }
  if (absenceAction !== 'remove' && now.state === 'removing' && now.failure !== null)
    state.removals.recordFailure(id, null, clock.now());
  if (absenceAction === 'keep') claims.countKept(id, source, record.path, summary);
}
