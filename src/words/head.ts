import { EXIT } from '../domain/exit-code.ts';
import type { Known, Standing } from '../domain/status.ts';
import type { Paint, Style } from '../service/colour.ts';
import { counted, describeSpan } from './quantity.ts';
import { describeBrokenConfiguration, describeNoService } from './service.ts';

export interface HeadWords {
  readonly nowMs: number;
  /** The command to run if there was no pass yet. */
  readonly nextStep: string;
  /** The records are those of a cluster, which other hosts keep up to date. */
  readonly hasLedger: boolean;
  readonly paint: Paint;
}

/**
 * Returns the first lines of a status: whether a service runs, and the verdict. `isAtWork`: a botsync process uses the state
 * file.
 */
export function describeHead(
  known: Known,
  standing: Standing,
  isAtWork: boolean,
  words: HeadWords,
): string[] {
  const { paint, nowMs, hasLedger } = words;
  const { service, lastPass } = known;
  const verdict = describeVerdict(known, standing, words);
  const style = verdictStyle(standing);
  const noService = describeNoService(service, nowMs, hasLedger);
  if (noService !== null) return [paint('failure', `${noService}:`), paint(style, verdict)];
  if (service.kind === 'starting') return [paint(style, `Service starting or stopping. ${verdict}`)];
  if (service.kind === 'running') {
    const broken = standing.troubles.find((trouble) => trouble.kind === 'configuration');
    if (broken === undefined) return [paint(style, `Service running. ${verdict}`)];
    const { problem, loadedAt } = broken;
    return [
      paint(style, `Service running with an older configuration. ${verdict}`),
      paint('failure', capitalized(describeBrokenConfiguration(problem, loadedAt))),
    ];
  }
  const isOld = !isAtWork && lastPass !== null && !hasLedger;
  const asOf = isOld
    ? `, as of the last pass, ${describeSpan(nowMs - Date.parse(lastPass.finishedAt))} ago`
    : '';
  return [paint(style, `${verdict}${asOf}`)];
}

function verdictStyle({ exitCode, troubles }: Standing): Style {
  if (exitCode === EXIT.ok) return 'ok';
  if (exitCode === EXIT.halted) return 'halted';
  return troubles.length > 0 ? 'failure' : 'warning';
}

function describeVerdict(
  { sources, service }: Known,
  { troubles, underWay }: Standing,
  { nextStep }: HeadWords,
): string {
  if (troubles.some(({ kind }) => kind === 'no-pass'))
    return `NOT IN SYNC: no pass has ended yet; run: ${nextStep}`;
  const isMisconfigured = troubles.some(({ kind }) => kind === 'configuration');
  // They have lines of their own.
  const apart = troubles.filter(({ kind }) => kind === 'configuration' || kind === 'paused');
  const isHeldBack = troubles.some((one) => one.kind === 'paused' && one.waiting > 0);
  if (troubles.length > apart.length || isHeldBack) return 'NOT IN SYNC';
  if (underWay !== null) {
    const { isLooking, queued, sending } = underWay;
    const what = [
      ...(isLooking ? ['a full pass is running'] : []),
      ...(queued > 0 ? [`${counted(queued, 'change')} waiting`] : []),
      ...(sending > 0 ? [`${counted(sending, 'file')} being sent`] : []),
    ];
    return `Not in sync yet: ${what.join(', ')}`;
  }
  const unconfirmed = sources.reduce((sum, one) => sum + one.unconfirmed, 0);
  if (unconfirmed > 0) return 'Everything was sent; the platform has not confirmed all of it yet';
  if (isMisconfigured) return 'Everything is in sync with that one';
  return service.kind === 'stopped' || service.kind === 'silent' ? 'Everything was in sync' : 'In sync';
}

function capitalized(sentence: string): string {
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
