import { hostname } from 'node:os';
import type { Config } from '../../../config/config.ts';
import { rateAt } from '../../../domain/byte-rate.ts';
import { quoteForShell } from '../../../config/problem.ts';
import { MINUTE_MS, startOf, type HistoryBucket } from '../../../domain/history.ts';
import type { PageFacts, Renewal, Requests, SourceFacts, Transfers } from '../../../page/facts.ts';
import { targetOf } from '../../../sync/sources/source.ts';
import { platformName, type RunTarget } from '../../run-base.ts';
import type { TransferTally } from '../../transfer-tally.ts';
import { version } from '../../version.ts';
import type { DaemonState } from '../daemon-state.ts';
import type { DaemonAnswers } from '../answers.ts';
import type { RunningDaemon } from '../daemons.ts';
import type { RecentEvents } from './recent-events.ts';
import type { Answered } from './recent-answer.ts';
import type { Usages } from '../../../domain/usage.ts';
import type { BotSummary } from '../../../platform/resources.ts';

/** Maximum numbers of listed removals of a halted source, and of renewals. */
const REMOVALS_NAMED = 100;
const RENEWALS_NAMED = 10;

interface FactsInput {
  readonly target: RunTarget;
  readonly daemonState: () => DaemonState;
  readonly answers: Pick<DaemonAnswers, 'facts'>;
  readonly events: Pick<RecentEvents, 'newestFirst'>;
  readonly tally: TransferTally;
  /** Returns the remaining pause that the platform asked for, milliseconds. */
  readonly pausedForMs: () => number;
  readonly usage: () => Answered<Usages> | null;
  /** Returns the bots of the workspace; empty if they are not known. */
  readonly bots: () => readonly Pick<BotSummary, 'id' | 'name'>[];
  /** The time before now whose history is shown, milliseconds. */
  readonly historyMs: number;
  /** Epoch milliseconds. */
  readonly startedAtMs: number;
}

/** Gathers what the page shows. `nowMs`: epoch milliseconds. Throws `StateFileError`. */
export function gatherFacts(input: FactsInput, nowMs: number): PageFacts {
  const { target, daemonState, answers, events, tally } = input;
  const { loaded, daemon, state, running, lastSuccessMs } = daemonState();
  const { config } = loaded;
  const facts = answers.facts();
  const history = state?.history.buckets(nowMs - input.historyMs, nowMs) ?? [];
  const isFirstPass = facts.running.isFirstPassOver !== true;
  const usage = input.usage();
  return {
    ...facts,
    nowMs,
    version: version(),
    host: hostname(),
    pid: process.pid,
    startedAtMs: input.startedAtMs,
    bots: botsOf(config, input.bots()),
    lastInSyncMs: lastSuccessMs,
    commandEnd: `${target.emulator ? ' --emulator' : ''} -c ${quoteForShell(config.file)}`,
    removals: config.removals.mode,
    isAsked: config.platform.operations !== 'specified',
    sources: config.sources.map((source): SourceFacts => {
      const isHalted = facts.known.sources.some(
        ({ name, halted }) => name === source.name && halted !== null,
      );
      const { name, directory, botId, keyPrefix } = source;
      return {
        ...{ name, directory, botId, keyPrefix },
        notices: config.watch.poll
          ? { kind: 'polling', everyMs: config.watch.pollIntervalMs }
          : { kind: 'watching', directories: daemon?.watchedDirectories.get(name) ?? 0 },
        wouldRemove: isHalted ? removalsOf(name, running, target) : [],
      };
    }),
    transfers: transfersOf(tally, isFirstPass, facts.running.activity !== 'watching'),
    requests: requestsOf(history, config, nowMs, input.pausedForMs()),
    history,
    renewals: renewalsOf(running, target),
    events: events.newestFirst,
    usage: usage && { usages: usage.value, askedAtMs: usage.askedAtMs },
  };
}

function botsOf({ sources }: Config, known: ReturnType<FactsInput['bots']>): PageFacts['bots'] {
  const ids = new Set(sources.map(({ botId }) => botId));
  return [...ids].map((id) => {
    const name = known.find((bot) => bot.id === id)?.name;
    return { id, name: typeof name === 'string' ? name : null };
  });
}

function removalsOf(source: string, running: readonly RunningDaemon[], target: RunTarget): string[] {
  return running
    .filter(({ config }) => config.sources.some(({ name }) => name === source))
    .flatMap((one) =>
      one.state.removalsDue(targetIdOf(source, one, target), source, '', Number.MAX_SAFE_INTEGER, true),
    )
    .slice(0, REMOVALS_NAMED)
    .map(({ path }) => path);
}

function renewalsOf(running: readonly RunningDaemon[], target: RunTarget): Renewal[] {
  return running
    .flatMap((one) =>
      one.config.sources.flatMap(({ name }) =>
        one.state
          .nextRenewals(targetIdOf(name, one, target), name, RENEWALS_NAMED)
          .map(({ source, path, renewAtMs, expiresAtMs }) => ({ source, path, renewAtMs, expiresAtMs })),
      ),
    )
    .sort((a, b) => a.renewAtMs - b.renewAtMs)
    .slice(0, RENEWALS_NAMED);
}

function targetIdOf(name: string, { state, config }: RunningDaemon, target: RunTarget): number {
  const source = config.sources.find((one) => one.name === name);
  return source === undefined ? -1 : state.targetId(targetOf(config, source, platformName(target, config)));
}

function transfersOf(tally: TransferTally, isFirstPass: boolean, isPass: boolean): Transfers {
  const { expected, inFlight } = tally;
  const { bytesPerSecond, filesPerSecond, leftMs } = tally.rate();
  const nowMs = performance.now();
  return {
    inFlight: inFlight.map(({ beganMs, ...flight }) => ({ ...flight, forMs: Math.max(0, nowMs - beganMs) })),
    bytesPerSecond: inFlight.length > 0 || isPass ? bytesPerSecond : 0,
    filesPerSecond,
    leftMs: isPass ? leftMs : null,
    firstPass:
      isFirstPass && expected !== null
        ? {
            ...{ files: tally.files, bytes: tally.bytes, part: tally.part ?? 0 },
            ...{ ofFiles: expected.files, ofBytes: expected.bytes },
          }
        : null,
  };
}

function requestsOf(
  history: readonly HistoryBucket[],
  { upload }: Config,
  nowMs: number,
  pausedForMs: number,
): Requests {
  const minuteMs = startOf(nowMs, MINUTE_MS) - MINUTE_MS;
  const last = history.find(({ startMs, spanMs }) => startMs === minuteMs && spanMs === MINUTE_MS);
  return {
    lastMinute: last?.requests ?? 0,
    limit: history.findLast(({ requestLimit }) => requestLimit !== null)?.requestLimit ?? null,
    pausedForMs,
    ownRequestsPerSecond: upload.maxRequestsPerSecond,
    ownBytesPerSecond: rateAt(upload.maxBytesPerSecond, nowMs),
  };
}
