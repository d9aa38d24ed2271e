import { EXIT } from '../../domain/exit-code.ts';
import type { Usages } from '../../domain/usage.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../library/load.ts';
import { print, printError } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { paintFor } from '../render/paint.ts';
import { describeStatus, type StatusWords } from '../../words/status.ts';
import { describeUsage, usageForPrograms } from '../../words/usage.ts';
import type { Session } from '../session.ts';
import { whyNotAsked } from '../../library/usage.ts';
import type { RecordsPlace } from '../../library/read-records.ts';
import type { ClusterFeed } from '../status/cluster-feed.ts';
import { standingByFacts, statusDocument } from '../status/status-facts.ts';
import { StatusFeed } from '../status/status-feed.ts';

/** Options of `botsync status`. */
export interface StatusOptions extends GlobalOptions {
  /** Whether the platform is asked for its quotas; without that nothing is. */
  readonly usage: boolean;
  /** How often is asked, a duration (empty: the usual one); `undefined`: once. */
  readonly watch: string | undefined;
}

/**
 * `botsync status`: what a running daemon says, else what the state file knows. Returns the exit code, which says how things
 * stand (see `Standing`). Throws `UsageError`.
 */
export async function status(options: StatusOptions): Promise<number> {
  const loaded = load(options);
  const { config } = loaded;
  const name = platformName(options, config);
  const cluster = await clusterFeed({ loaded, platformName: name, env: process.env });
  const feed = new StatusFeed(config, name, Date.now, cluster);
  const isAsked = config.platform.operations !== 'specified';
  const words: Omit<StatusWords, 'nowMs'> = {
    nextStep: `botsync sync --once${alike(options)}`,
    commandEnd: alike(options),
    isAsked,
    paint: paintFor(1),
  };
  if (options.watch !== undefined) {
    const { watchStatus } = await import('../status/status-watch.ts');
    return await watchStatus({ feed, words, every: options.watch, isJson: options.json });
  }
  const facts = await feed.next();
  const standing = standingByFacts(facts);
  const tell = (asked: Usages | null): void => {
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
    const exitCode = await withSession(options, 'status', (session) => withUsage(session, tell));
    return exitCode === EXIT.ok ? standing.exitCode : exitCode;
  }
  tell(null);
  return standing.exitCode;
}

/** What finds out what the hosts of a cluster keep; `null`: there is none. */
async function clusterFeed(place: RecordsPlace): Promise<ClusterFeed | null> {
  if (place.loaded.config.cluster === null) return null;
  const { ClusterFeed: Feed } = await import('../status/cluster-feed.ts');
  return new Feed(place);
}

/** Tells what is known with the usage, and without it where the platform does not tell. */
async function withUsage({ usage, signal }: Session, tell: (asked: Usages | null) => void): Promise<number> {
  const asked = await usage().all(signal);
  tell(asked.kind === 'ok' ? asked.value : null);
  if (asked.kind === 'failed' && !signal.aborted) printError(whyNotAsked(asked));
  return EXIT.ok;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
