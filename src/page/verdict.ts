import { HALT_TRAITS } from '../domain/guard.ts';
import { bytesText, countText, durationText } from '../service/amounts.ts';
import { MOST_FAILURES } from '../sync/plan/overview.ts';
import { isOfCluster, type ClusterTrouble } from '../domain/cluster-status.ts';
import type { Known, Failing, Trouble } from '../domain/status.ts';
import { html, type Html } from './html.ts';
import { adviceFor, type Advice } from '../words/advice.ts';
import { pausedText, pauseTitle } from '../words/pause.ts';
import { placeOf } from '../words/place.ts';
import { describeClusterTrouble } from '../words/cluster.ts';
import { describeCause } from '../words/status.ts';
import type { PageFacts } from './facts.ts';

export type Mood = 'fine' | 'busy' | 'waits' | 'needs-you';

export interface Verdict {
  readonly mood: Mood;
  readonly title: string;
  readonly detail: string | null;
  /** The trouble that it is about; `null` if there is none. */
  readonly trouble: Trouble | null;
  readonly advice: Advice | null;
  /** The number of other troubles. */
  readonly others: number;
}

/** Returns the most urgent trouble, else the current activity, else that everything is in sync. */
export function verdictOf(facts: PageFacts): Verdict {
  const { standing } = facts;
  const advised = standing.troubles.map((trouble) => ({ trouble, advice: adviceOf(trouble, facts) }));
  const worst = worstOf(advised);
  if (worst !== undefined) {
    const mood = worst.advice.need === 'wait' ? 'waits' : 'needs-you';
    const others = advised.length - 1;
    const { trouble } = worst;
    const title = isOfCluster(trouble) ? titleInCluster(trouble) : titleOf(trouble, facts);
    return { mood, ...title, trouble, advice: worst.advice, others };
  }
  const nothing = { trouble: null, advice: null, others: 0 };
  if (standing.underWay !== null) return { mood: 'busy', ...busy(facts), ...nothing };
  const unconfirmed = sum(facts.known, 'unconfirmed');
  if (unconfirmed > 0)
    return {
      ...{ mood: 'busy', title: 'Everything was sent', ...nothing },
      detail: `The platform has not finished indexing ${countText(unconfirmed, 'file')}. Nothing needs to be done.`,
    };
  return {
    mood: 'fine',
    title: 'In sync',
    detail: `${haveAll(facts)} Nothing needs to be done.`,
    ...nothing,
  };
}

interface Advised {
  readonly trouble: Trouble;
  readonly advice: Advice;
}

/** Troubles that need somebody come first, but a pause or an outage comes before single files: nothing can be sent. */
function worstOf(advised: readonly Advised[]): Advised | undefined {
  const urgent = advised.find(({ advice }) => advice.need !== 'wait');
  const forAll = advised.find(({ trouble }) => trouble.kind === 'paused' || trouble.kind === 'outage');
  return urgent?.trouble.kind === 'files' && forAll !== undefined ? forAll : (urgent ?? advised[0]);
}

export function adviceOf(trouble: Trouble, { known, sources }: PageFacts): Advice {
  return adviceFor(
    trouble,
    known.sources,
    (name) => sources.find((one) => one.name === name)?.directory ?? null,
  );
}

function haveAll({ known, isAsked }: PageFacts): string {
  const files = sum(known, 'files');
  const bytes = sum(known, 'bytes');
  if (files === 0) return 'There are no files to send.';
  const searchable = sum(known, 'searchable');
  const note = isAsked && searchable === files ? ', and all of them are searchable' : '';
  return `The platform has all ${countText(files, 'file')} (${bytesText(bytes)})${note}.`;
}

function busy({ standing, transfers }: PageFacts): { title: string; detail: string } {
  const { isLooking = false, queued = 0, sending = 0 } = standing.underWay ?? {};
  const { firstPass, leftMs } = transfers;
  if (isLooking && firstPass === null)
    return {
      title: 'Checking all files',
      detail: 'All files are being checked. Nothing needs to be done.',
    };
  if (isLooking && firstPass !== null) {
    const left = leftMs === null ? '' : `, about ${durationText(leftMs)} left`;
    return {
      title: `Sending files: ${Math.floor(firstPass.part * 100)} %${left}`,
      detail: `${describeFirstPass(firstPass)}. Nothing needs to be done.`,
    };
  }
  const what = [
    ...(sending > 0 ? [`${countText(sending, 'file')} being sent`] : []),
    ...(queued > 0 ? [`${countText(queued, 'change')} waiting`] : []),
  ].join(', ');
  return { title: 'Sending changes', detail: `${what}. Nothing needs to be done.` };
}

/** Returns the progress of the first pass in files and bytes. */
export function describeFirstPass({ files, bytes, ofFiles, ofBytes }: FirstPass): string {
  return `${files.toLocaleString('en')} of ${countText(ofFiles, 'file')} sent; ${bytesText(bytes)} of ${bytesText(ofBytes)} transferred`;
}

type FirstPass = NonNullable<PageFacts['transfers']['firstPass']>;

function haltTitle(name: string, sources: Known['sources']): { title: string; detail: string | null } {
  const source = sources.find((one) => one.name === name);
  const halt = source?.halt ?? null;
  const isApprovable = halt !== null && HALT_TRAITS[halt.kind].isApprovable;
  const decide = isApprovable ? ': your decision is needed' : '';
  return { title: `${name} is halted${decide}`, detail: source?.halted ?? null };
}

function titleOf(
  trouble: Exclude<Trouble, ClusterTrouble>,
  facts: PageFacts,
): { title: string; detail: string | null } {
  const { known, nowMs } = facts;
  switch (trouble.kind) {
    case 'state-file':
      return { title: 'The state file cannot be used', detail: trouble.reason };
    case 'paused':
      return {
        title: pauseTitle(trouble.until, nowMs),
        detail: trouble.waiting === 0 ? null : `${pausedText(trouble.waiting)}.`,
      };
    case 'configuration':
      return {
        title: 'The configuration on disk cannot be loaded',
        detail: `${trouble.problem}. The one of ${trouble.loadedAt} is in use.`,
      };
    case 'credentials':
      return { title: 'The platform refuses the credentials', detail: trouble.reason };
    case 'quota':
      return { title: 'A quota of the platform is used up', detail: trouble.reason };
    case 'outage':
      return { title: 'The platform is unreachable', detail: trouble.reason };
    case 'halted':
      return haltTitle(trouble.source, known.sources);
    case 'expiring': {
      const source = known.sources.find(({ name }) => name === trouble.source);
      const files = countText(source?.expiring ?? 0, 'file');
      return { title: `${files} of ${trouble.source} will expire`, detail: 'Their renewal is overdue.' };
    }
    case 'files': {
      const [first] = trouble.files;
      if (first === undefined) return { title: 'Not in sync', detail: null };
      const { kind, source, path, reason } = first;
      const { length } = trouble.files;
      const title =
        length === 1
          ? `${placeOf(source, path)} ${FILES_TITLES[kind].replace('are', 'is')}`
          : `${atLeast(facts, 'At least ')}${countText(length, 'file')} ${FILES_TITLES[kind]}`;
      return { title, detail: reason };
    }
    case 'interrupted':
    case 'left-out':
    case 'no-pass':
      return { title: 'Not all files were checked', detail: describeCause(trouble, nowMs) };
  }
}

function titleInCluster(trouble: ClusterTrouble): { title: string; detail: string | null } {
  const detail = describeClusterTrouble(trouble);
  switch (trouble.kind) {
    case 'cluster':
      return { title: 'This host cannot take part in the cluster', detail };
    case 'blocked-unit':
      return { title: `${trouble.unit} is halted`, detail: trouble.reason };
    case 'differing-source':
      return { title: 'Hosts have different configurations', detail };
    case 'free-unit':
    case 'elsewhere':
      return { title: detail, detail: null };
  }
}

/** Returns `words` if the list of failures is cut at its maximum, else nothing. */
export function atLeast({ known }: PageFacts, words: string): string {
  return known.failures.length >= MOST_FAILURES ? words : '';
}

const FILES_TITLES: Readonly<Record<Failing['kind'], string>> = {
  failed: 'could not be synced',
  sending: 'could not be sent',
  refused: 'are refused',
  unsearchable: 'are not searchable',
  refuse: 'are refused',
  problem: 'cannot be synced',
  pending: 'are waiting',
};

function sum({ sources }: Known, count: 'files' | 'bytes' | 'searchable' | 'unconfirmed'): number {
  return sources.reduce((total, one) => total + one[count], 0);
}

/** For people who see no colours; screen readers get the title. */
const SIGNS: Readonly<Record<Mood, string>> = { fine: '✓', busy: '↻', waits: '…', 'needs-you': '!' };

export function sign(mood: Mood): Html {
  return html`<span class="sign" aria-hidden="true">${SIGNS[mood]}</span>`;
}
