import { fateOf } from '../../domain/absence.ts';
import type { Problem } from '../../state/state-store.ts';
import type { WalkContext } from './sync-context.ts';
import type { PlanItem, PlannedSend } from '../plan/plan-source.ts';
import type { Source } from '../sources/source.ts';

/** Counts, reports and remembers a plan's item that sends nothing. */
export function noteItem(
  item: Exclude<PlanItem, PlannedSend>,
  source: Source,
  target: number,
  context: WalkContext,
): void {
  const { state, summary, report } = context;
  const name = source.config.name;
  switch (item.kind) {
    case 'tick':
      break;
    case 'unchanged':
    case 'hold': {
      const id = { target, key: item.key };
      if (item.adopts) state.adopt(id, name, item.path);
      else if (item.record.absence !== null) state.setAbsence(id, null, context.clock.now());
      if (item.kind === 'unchanged') {
        if (item.renewAtMs !== item.record.renewAtMs) state.setRenewal(id, item.renewAtMs);
        summary.unchanged += 1;
        break;
      }
      if (item.record.state === 'failed') {
        summary.failed += 1;
        context.round.unsent.add(name, item.path, item.record.fingerprint);
        break;
      }
      summary.refused += 1;
      context.round.unsent.add(name, item.path, item.record.fingerprint);
      const reason = `refused before: ${state.find(id)?.failure ?? 'unknown'}`;
      report.event({ kind: 'refuse', source: name, path: item.path, key: item.key, reason });
      break;
    }
    case 'refuse':
    case 'problem': {
      const { kind, path, key, reason, fingerprint } = item;
      if (fingerprint !== undefined) context.round.unsent.add(name, path, fingerprint);
      noteProblem(context, { source: name, path, key, kind, reason });
      break;
    }
    case 'skip':
      if (item.record !== null && item.record.absence !== 'set-aside')
        state.setAbsence({ target, key: item.key }, 'set-aside', context.clock.now());
      summary.skipped += 1;
      report.event({ kind: 'skip', source: name, path: item.path, key: item.key, reason: item.reason });
      break;
    case 'pass-over':
      summary.skipped += 1;
      report.event({ kind: 'skip', source: name, path: item.path, key: null, reason: item.reason });
      break;
    case 'absent':
      noteAbsent(item, name, target, context);
      break;
  }
}

/** Counts, reports and remembers a file that was not sent and has no row of its own to say so. */
export function noteProblem(
  { state, summary, report, round }: WalkContext,
  problem: Problem & { readonly kind: 'refuse' | 'problem' },
): void {
  summary[problem.kind === 'refuse' ? 'refused' : 'problems'] += 1;
  state.noteProblem(problem, round.pass);
  report.event(problem);
}

function noteAbsent(
  { record, absence }: Extract<PlanItem, { kind: 'absent' }>,
  source: string,
  target: number,
  { state, summary, config, clock, flights, changeFeed, claims }: WalkContext,
): void {
  const id = { target, key: record.key };
  // What cannot be seen is told of as a problem, and is neither kept nor removed.
  if (absence === null) return;
  for (const other of claims.takeOthers(target, record.key)) changeFeed.rescan(other.source, other.path);
  if (flights.has(id)) {
    // What becomes of it is known when it ends, and so is what its record says then.
    void flights.ended(id).then(() => {
      changeFeed.rescan(source, record.path);
    });
    return;
  }
  // A page of records that was read earlier may be old.
  const now = state.find(id);
  if (now === null || now.path !== record.path) return;
  const fate = fateOf(now, absence, config.removals.mode);
  if (fate === 'forget') {
    state.forget(id);
    return;
  }
  if (absence !== now.absence) state.setAbsence(id, absence, clock.now());
  if (fate !== 'remove' && now.state === 'removing' && now.failure !== null)
    state.recordRemovalFailure(id, null, clock.now());
  if (fate === 'keep') summary.kept += 1;
}
