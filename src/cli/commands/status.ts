import type { LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Usages } from '../../domain/usage.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { print, printError, printJson, paintFor } from '../render/output.ts';
import { describeStatus, type StatusWords } from '../../words/status.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import type { Session } from '../session.ts';
import { SyncError } from '../../run/sync-error.ts';
import { whyNotAsked } from '../../run/usage.ts';
import { standingByFacts, statusDocument, type StatusFeed } from '../status/status-facts.ts';
import { openFeed } from '../status/status-feed.ts';

export interface StatusOptions extends GlobalOptions {
  readonly usage: boolean;
  /** The interval, a duration (empty for the default); `undefined`: once. */
  readonly watch: string | undefined;
}

/**
 * `botsync status`: the status from a running daemon, else from the state file. Returns the exit code of the status
 * (see `Standing`). Throws `UsageError`.
 */
export async function status(options: StatusOptions): Promise<number> {
  const { feed, isAsked, hasLedger } = await openStatus(options);
  const words: Omit<StatusWords, 'nowMs'> = {
    nextStep: `botsync sync --once${commandEnd(options)}`,
    commandEnd: commandEnd(options),
    isAsked,
    hasLedger,
    paint: paintFor(1),
  };
  if (options.watch !== undefined) {
    const { watchStatus } = await import('../status/status-watch.ts');
    return await watchStatus({ feed, words, every: options.watch, isJson: options.json });
  }
  const facts = await feed.next();
  const standing = standingByFacts(facts);
  const show = (asked: Usages | null): void => {
    if (options.json) {
      const usage = options.usage && { usage: asked && usageForPrograms(asked, null) };
      printJson({ ...statusDocument(facts, standing), ...usage });
    } else {
      const now = { ...words, nowMs: Date.now() };
      const lines = describeStatus(facts.known, standing, facts.daemon, now);
      if (asked !== null)
        lines.push('', "Usage, in the platform's units:", ...indented(describeUsage(asked, null)));
      print(lines.join('\n'));
    }
  };
  if (options.usage) {
    const { withSession } = await import('../session.ts');
    const exitCode = await withSession(options, 'status', (session) => withUsage(session, show));
    return exitCode === EXIT.ok ? standing.exitCode : exitCode;
  }
  show(null);
  return standing.exitCode;
}

interface OpenedStatus extends Pick<StatusWords, 'isAsked' | 'hasLedger'> {
  readonly feed: StatusFeed;
}

/** Opens the feed of the status. With an invalid configuration, a service may still run with the previous one. */
async function openStatus(options: StatusOptions): Promise<OpenedStatus> {
  let loaded: LoadedConfig;
  try {
    loaded = load(options);
  } catch (error) {
    if (!(error instanceof SyncError) || error.code !== 'configuration') throw error;
    const { BrokenConfigFeed } = await import('../status/status-feed.ts');
    return { feed: new BrokenConfigFeed(options, error), isAsked: true, hasLedger: false };
  }
  const { config } = loaded;
  return {
    feed: await openFeed({ loaded, platformName: platformName(options, config), env: process.env }),
    isAsked: config.platform.operations !== 'specified',
    hasLedger: config.cluster !== null,
  };
}

/** Prints the status with the usage, or without it if the platform does not report it. */
async function withUsage({ usage, signal }: Session, show: (asked: Usages | null) => void): Promise<number> {
  const asked = await usage().all(signal);
  show(asked.kind === 'ok' ? asked.value : null);
  if (asked.kind === 'failed' && !signal.aborted) printError(whyNotAsked(asked));
  return EXIT.ok;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
