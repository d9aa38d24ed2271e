import pLimit from 'p-limit';
import { listener, type Emit } from '../../../sync/events.ts';
import { renderDocument, renderParts } from '../../../page/document.ts';
import { readPageQuery, type PageFacts, type PageQuery } from '../../../page/facts.ts';
import { readFilesQuery } from '../../../page/files-query.ts';
import { renderFiles } from '../../../page/files.ts';
import { spanMsOf } from '../../../page/history.ts';
import type { Usages } from '../../../domain/usage.ts';
import type { BotSummary } from '../../../platform/resources.ts';
import type { PageAccess, PageSource } from '../../../service/page-source.ts';
import type { Log } from '../../../service/logger.ts';
import { PAGE_POLICY } from '../../../page/frame.ts';
import type { RunTarget } from '../../run-base.ts';
import { TransferTally } from '../../transfer-tally.ts';
import type { PlatformAccess } from '../../platform/platform-access.ts';
import type { DaemonState } from '../daemon-state.ts';
import type { DaemonAnswers } from '../answers.ts';
import { DaemonNews } from '../daemon-news.ts';
import { explainForPage, FileQuestions } from './explain-file.ts';
import { gatherFacts } from './page-facts.ts';
import { heldBy, listForPage } from './list-for-page.ts';
import { RecentEvents } from './recent-events.ts';
import { RecentAnswer } from './recent-answer.ts';
import type { SitePorts } from '../../../service/page-site.ts';
import { approvalWords, rescanWords } from '../../../words/asked.ts';
import { approveAnywhere, rescanAnywhere } from '../ask-hosts.ts';

/** Interval for updating the page while files are sent, milliseconds. */
const BUSY_MS = 1000;

/** Interval for asking other hosts of a cluster while the page is open, milliseconds. */
const HOSTS_MS = 3000;

/** Maximum number of lists that wait until another is made. */
const LISTS_WAITING = 10;

/** Times for which answers of the platform are reused, milliseconds. */
const USAGE_KEPT_MS = 15 * 60_000;
const BOTS_KEPT_MS = 3_600_000;

interface DaemonPageInput {
  readonly target: RunTarget;
  readonly answers: DaemonAnswers;
  readonly daemonState: () => DaemonState;
  /** Returns the access to the platform; `null`: there is none yet. */
  readonly platform: () => PlatformAccess | null;
}

/** The page of a daemon: collects events, and gathers the facts only while the page is open. */
export class DaemonPage implements PageSource {
  readonly policy = PAGE_POLICY;
  readonly listener: Emit;
  readonly #input: DaemonPageInput;
  readonly #startedAtMs = Date.now();
  readonly #tally = new TransferTally(() => performance.now());
  readonly #events: RecentEvents;
  readonly #usage: RecentAnswer<Usages>;
  readonly #bots: RecentAnswer<readonly BotSummary[]>;
  readonly #questions = new FileQuestions(() => performance.now());
  readonly #lists = pLimit(1);
  readonly #subscribers = new Set<() => void>();
  #timer: NodeJS.Timeout | null = null;

  constructor(input: DaemonPageInput) {
    this.#input = input;
    const changed = (): void => {
      this.#changed();
    };
    this.#events = new RecentEvents(Date.now, changed);
    const { platform } = input;
    this.#usage = new RecentAnswer(
      platform,
      (clients, signal) => clients.usage().all(signal),
      USAGE_KEPT_MS,
      changed,
    );
    this.#bots = new RecentAnswer(
      platform,
      (clients, signal) => clients.administration().listBots(signal),
      BOTS_KEPT_MS,
      changed,
    );
    this.listener = this.#createListener(new DaemonNews(this.#events, () => null));
  }

  /** Returns a log whose lines also appear on the page. */
  logBeside(log: Log): Log {
    return this.#events.beside(log);
  }

  document = async (params: URLSearchParams, access: PageAccess, mayAsk: boolean): Promise<string> => {
    const query = readPageQuery(params);
    const { target, daemonState, platform } = this.#input;
    await daemonState().cluster?.look();
    const catalog = platform()?.clients.catalog() ?? null;
    const ask =
      catalog === null || !mayAsk
        ? null
        : (botId: string, key: string) =>
            this.#questions.ask(botId, key, catalog, this.#tally.inFlightCount > 0);
    const answer = query.file === '' ? null : await explainForPage(query.file, target, daemonState(), ask);
    return renderDocument(this.#facts(query), query, access, answer);
  };

  files = async (params: URLSearchParams): Promise<string | null> => {
    if (this.#lists.pendingCount >= LISTS_WAITING) return null;
    const query = readFilesQuery(params);
    const { target, daemonState } = this.#input;
    await daemonState().cluster?.look();
    const page = await this.#lists(() => listForPage(query, target, () => heldBy(daemonState())));
    return renderFiles(this.#facts(readPageQuery(params)), query, page);
  };

  parts = (params: URLSearchParams, mayAct: boolean): Promise<ReadonlyMap<string, string>> => {
    const query = readPageQuery(params);
    return Promise.resolve(renderParts(this.#facts(query), query, mayAct));
  };

  subscribe = (changed: () => void): (() => void) => {
    this.#subscribers.add(changed);
    this.#changed();
    return () => {
      this.#subscribers.delete(changed);
      if (this.#subscribers.size > 0 || this.#timer === null) return;
      clearTimeout(this.#timer);
      this.#timer = null;
    };
  };

  #facts({ span }: PageQuery): PageFacts {
    const { target, answers, daemonState, platform } = this.#input;
    return gatherFacts(
      {
        ...{ target, answers, daemonState },
        events: this.#events,
        tally: this.#tally,
        pausedForMs: () => platform()?.pausedForMs() ?? 0,
        usage: () => this.#usage.lastKnown(),
        bots: () => this.#bots.lastKnown()?.value ?? [],
        historyMs: spanMsOf(span),
        startedAtMs: this.#startedAtMs,
      },
      Date.now(),
    );
  }

  /** Notifies the subscribers now, and again when the state file is read again. */
  #changed(): void {
    if (this.#subscribers.size === 0) return;
    for (const changed of this.#subscribers) changed();
    const isAlone = this.#input.daemonState().cluster === null;
    this.#timer ??= setTimeout(
      () => {
        this.#timer = null;
        void this.#showAnew();
      },
      Math.max(isAlone || this.#isBusy() ? BUSY_MS : HOSTS_MS, this.#input.answers.staleForMs),
    ).unref();
  }

  async #showAnew(): Promise<void> {
    const { cluster } = this.#input.daemonState();
    await cluster?.look();
    // Transfers and other hosts progress without events.
    if (this.#isBusy() || cluster !== null) this.#changed();
    else for (const changed of this.#subscribers) changed();
  }

  #isBusy(): boolean {
    const activity = this.#input.daemonState().daemon?.activity;
    return (
      this.#tally.inFlightCount > 0 ||
      (activity !== undefined && (activity.activity !== 'watching' || activity.queued + activity.sending > 0))
    );
  }

  #createListener(news: DaemonNews): Emit {
    const tally = this.#tally;
    const changed = (): void => {
      this.#changed();
    };
    const own = listener({
      file: changed,
      halted: changed,
      'attempt-began': changed,
      sent: ({ bytes }) => {
        tally.done(bytes);
      },
      expected: ({ files, bytes }) => {
        tally.expected = files === 0 ? null : { files, bytes };
        changed();
      },
      'pass-began': () => {
        // The size of the first pass may have been counted before the pass began.
        const { expected } = tally;
        if (tally.inFlightCount === 0) tally.reset();
        tally.expected = expected;
        changed();
      },
      'pass-ended': () => {
        tally.expected = null;
        changed();
      },
    });
    return (event) => {
      news.listener(event);
      tally.listener(event);
      own(event);
    };
  }
}

type Controlled = Pick<DaemonState, 'daemon' | 'cluster' | 'loaded' | 'trouble'>;

/** Creates the actions that people who signed in on the page may run on a daemon, and their log. */
export function pageControl(controlled: () => Controlled, log: Log): SitePorts {
  return {
    act: async (action) => {
      const state = controlled();
      const nothing = `Nothing was done: ${state.trouble ?? 'botsync is starting'}.`;
      if (state.daemon === null) return nothing;
      const rescan = async (source: string | null, path: string | null): Promise<string> => {
        const asked = await rescanAnywhere(state, source, path);
        return asked === null ? nothing : rescanWords(asked, source, path);
      };
      switch (action.kind) {
        case 'approve':
          return approvalWords(await approveAnywhere(state, action.source, action.halt)).join(' ');
        case 'rescan':
          return await rescan(action.source, null);
        case 'retry':
          return await rescan(action.source, action.path);
      }
    },
    note: (level, message, fields) => {
      log[level](message, fields);
    },
    failed: (error) => {
      log.error('the page could not be made', { reason: (error as Error).message });
    },
  };
}
