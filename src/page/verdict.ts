import { bytesText, countText } from '../service/amounts.ts';
import { MOST_FAILURES } from '../sync/plan/overview.ts';
import { isOfCluster, type ClusterTrouble } from '../sync/plan/cluster-facts.ts';
import type { Failing, Trouble } from '../sync/plan/standing.ts';
import { html, type Html } from '../web/html.ts';
import { adviceFor, type Advice } from '../words/advice.ts';
import { placeOf } from '../words/place.ts';
import { describeClusterTrouble } from '../words/cluster.ts';
import { describeCause } from '../words/status.ts';
import type { PageFacts } from './facts.ts';

/** How everything stands: what the colour and the sign of the page say. */
export type Mood = 'fine' | 'busy' | 'waits' | 'needs-you';

/** The one sentence that says it, and what to do. */
export interface Verdict {
  readonly mood: Mood;
  readonly title: string;
  /** `null`: there is no more to say. */
  readonly detail: string | null;
  readonly advice: Advice | null;
  /** How many other troubles there are. */
  readonly others: number;
}

/** Says how everything stands: the most urgent trouble, else what is being done, else that all is well. */
export function verdictOf(facts: PageFacts): Verdict {
  const { standing } = facts;
  const told = standing.troubles.map((trouble) => ({ trouble, advice: adviceOf(trouble, facts) }));
  const worst = told.find(({ advice }) => advice.need !== 'wait') ?? told[0];
  if (worst !== undefined) {
    const mood = worst.advice.need === 'wait' ? 'waits' : 'needs-you';
    const others = told.length - 1;
    const { trouble } = worst;
    const title = isOfCluster(trouble) ? titleInCluster(trouble) : titleOf(trouble, facts);
    return { mood, ...title, advice: worst.advice, others };
  }
  const nothing = { advice: null, others: 0 };
  if (standing.underWay !== null) return { mood: 'busy', ...busy(facts), ...nothing };
  const unconfirmed = sum(facts, 'unconfirmed');
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

/** What to do about a trouble. */
export function adviceOf(trouble: Trouble, { known, sources }: PageFacts): Advice {
  return adviceFor(
    trouble,
    known.sources,
    (name) => sources.find((one) => one.name === name)?.directory ?? null,
  );
}

function haveAll({ known, isAsked }: PageFacts): string {
  const files = known.sources.reduce((total, one) => total + one.files, 0);
  const bytes = known.sources.reduce((total, one) => total + one.bytes, 0);
  if (files === 0) return 'There are no files to send.';
  const searchable = known.sources.reduce((total, one) => total + one.searchable, 0);
  const said = isAsked && searchable === files ? ', and all of them are searchable' : '';
  return `The platform has all ${countText(files, 'file')} (${bytesText(bytes)})${said}.`;
}

function busy({ standing, transfers }: PageFacts): { title: string; detail: string } {
  const { isLooking = false, queued = 0, sending = 0 } = standing.underWay ?? {};
  const { firstPass } = transfers;
  if (isLooking) {
    const how =
      firstPass === null
        ? 'All files are being checked.'
        : `${firstPass.files.toLocaleString('en')} of ${countText(firstPass.ofFiles, 'file')} sent; ${bytesText(firstPass.bytes)} of ${bytesText(firstPass.ofBytes)} transferred.`;
    const title = firstPass === null ? 'Checking all files' : 'Sending files';
    return { title, detail: `${how} Nothing needs to be done.` };
  }
  const what = [
    ...(sending > 0 ? [`${countText(sending, 'file')} being sent`] : []),
    ...(queued > 0 ? [`${countText(queued, 'change')} waiting`] : []),
  ].join(', ');
  return { title: 'Sending changes', detail: `${what}. Nothing needs to be done.` };
}

function titleOf(
  trouble: Exclude<Trouble, ClusterTrouble>,
  facts: PageFacts,
): { title: string; detail: string | null } {
  const { known, nowMs } = facts;
  switch (trouble.kind) {
    case 'state-file':
      return { title: 'The state file cannot be used', detail: trouble.reason };
    case 'credentials':
      return { title: 'The platform refuses the credentials', detail: trouble.reason };
    case 'quota':
      return { title: 'A quota of the platform is used up', detail: trouble.reason };
    case 'outage':
      return { title: 'The platform is unreachable', detail: trouble.reason };
    case 'halted': {
      const source = known.sources.find(({ name }) => name === trouble.source);
      const decide = (source?.haltAdvice ?? null) === null ? '' : ': your decision is needed';
      return { title: `${trouble.source} is halted${decide}`, detail: source?.halted ?? null };
    }
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
    case 'differing-hosts':
      return { title: 'Hosts have different configurations', detail };
    case 'free-unit':
    case 'elsewhere':
      return { title: detail, detail: null };
  }
}

/** What stands before a number of files where not all are named that are not in sync; else nothing. */
export function atLeast({ known }: PageFacts, words: string): string {
  return known.failures.length >= MOST_FAILURES ? words : '';
}

/** What is said of files that are not in sync, by their kind. */
const FILES_TITLES: Readonly<Record<Failing['kind'], string>> = {
  failed: 'could not be synced',
  sending: 'could not be sent',
  refused: 'are refused',
  unsearchable: 'are not searchable',
  refuse: 'are refused',
  problem: 'cannot be synced',
  pending: 'are waiting',
};

function sum({ known }: PageFacts, count: 'unconfirmed'): number {
  return known.sources.reduce((total, one) => total + one[count], 0);
}

/** The sign of a mood, for those who see no colours; its words are in the title. */
const SIGNS: Readonly<Record<Mood, string>> = { fine: '✓', busy: '↻', waits: '…', 'needs-you': '!' };

/** A sign as a picture that nobody has to hear. */
export function sign(mood: Mood): Html {
  return html`<span class="sign" aria-hidden="true">${SIGNS[mood]}</span>`;
}
