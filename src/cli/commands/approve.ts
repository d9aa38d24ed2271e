import { HALT_TRAITS } from '../../domain/guard.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { load, platformName } from '../../run/run-base.ts';
import { firstSeenHere, isSeenHere } from '../../run/seen-here.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import type { HaltStatus, SourceStatus } from '../../domain/status.ts';
import { approvalEffect, approvalWords, type HostsApproval } from '../../words/asked.ts';
import { askOthers, commandDaemon } from '../command-daemon.ts';
import { commandEnd, type GlobalOptions } from '../global-options.ts';
import { confirm } from '../prompter.ts';
import { print, printError, shown, printJson } from '../render/output.ts';
import { openFeed } from '../status/status-feed.ts';
import { UsageError } from '../usage-error.ts';

export interface ApproveOptions extends GlobalOptions {
  /** Without it, all halted sources. */
  readonly source: string | undefined;
  readonly yes: boolean;
}

type Halted = SourceStatus & { readonly halt: HaltStatus };

/**
 * `botsync approve`: shows the halts and the effect of an approval, asks, and lets the running daemon continue
 * once. Returns the exit code; throws `UsageError`.
 */
export async function approve({ source, yes, ...options }: ApproveOptions): Promise<number> {
  const loaded = load(options);
  const { config } = loaded;
  if (source !== undefined && !config.sources.some(({ name }) => name === source)) {
    const names = config.sources.map(({ name }) => name).join(', ');
    throw new UsageError(`source not found: "${source}"; the config has: ${names}`);
  }
  const halted = await haltedSources(loaded, options, source);
  if (halted.length === 0) {
    if (options.json) printJson({ approved: [], missing: [], changed: [] });
    else print('No source is halted, so there is nothing to approve.');
    return EXIT.ok;
  }
  let exitCode: number = EXIT.ok;
  for (const one of halted) {
    const answer = await approveOne(one, loaded, { ...options, yes });
    if (options.json) printJson(answer);
    else print(describeAnswer(answer, commandEnd(options)));
    if (!isApproved(answer)) exitCode = EXIT.incomplete;
  }
  return exitCode;
}

async function haltedSources(
  loaded: LoadedConfig,
  options: GlobalOptions,
  source: string | undefined,
): Promise<Halted[]> {
  const feed = await openFeed({
    loaded,
    platformName: platformName(options, loaded.config),
    env: process.env,
  });
  const { known } = await feed.next();
  const { kind } = known.service;
  const isAlone = loaded.config.cluster === null;
  if (isAlone && (kind === 'stopped' || kind === 'none') && known.sources.some(({ halt }) => halt !== null))
    throw new UsageError(
      `no botsync is running on this state file; run: botsync sync --once --allow-removals${commandEnd(options)}`,
      EXIT.incomplete,
    );
  return known.sources.filter(
    (one): one is Halted => one.halt !== null && (source === undefined || one.name === source),
  );
}

async function approveOne(
  halted: Halted,
  loaded: LoadedConfig,
  { yes, ...options }: GlobalOptions & Pick<ApproveOptions, 'yes'>,
): Promise<HostsApproval> {
  const { name: source, halt } = halted;
  const { config } = loaded;
  const nothing = { approved: [], missing: [], changed: [] };
  if (!options.json) describe(halted, config.removals.mode);
  if (!HALT_TRAITS[halt.kind].isApprovable) return { ...nothing, missing: [source] };
  const own = config.sources.find(({ name }) => name === source);
  const seen = halted.syncedBy === undefined || own === undefined ? null : firstSeenHere(own, halt);
  if (seen !== null) return { ...nothing, failed: [{ source, reason: isSeenHere(seen) }] };
  if (!yes && !(await confirm('approve asks before it approves', `Approve this for ${source}?`)))
    return { ...nothing, failed: [{ source, reason: 'you did not confirm it' }] };
  const wanted = { kind: 'approve', source, terms: { halt: halt.digest } } as const;
  const { others } = await askOthers(loaded, wanted);
  if (others.length > 0) return { ...nothing, passedOn: others };
  return (await commandDaemon(config.stateFile, {
    kind: 'approve',
    terms: { source, halt: halt.digest },
    otherwise: `run: botsync sync --once --allow-removals${commandEnd(options)}`,
  })) as HostsApproval;
}

function describe(
  { name, halted, syncedBy, halt }: Halted,
  removals: Parameters<typeof approvalEffect>[1],
): void {
  const by = syncedBy === undefined ? '' : ` (synced by ${syncedBy})`;
  const more = halt.files - halt.first.length;
  printError(
    [
      `${name}${by} is halted: ${halted ?? ''}.`,
      ...(!HALT_TRAITS[halt.kind].isApprovable ? [] : [approvalEffect(halt, removals)]),
      ...halt.first.map((path) => `  ${path}`),
      ...(more > 0 ? [`  … and ${more.toLocaleString('en')} more`] : []),
    ]
      .map(shown)
      .join('\n'),
  );
}

function isApproved({ approved, passedOn = [] }: HostsApproval): boolean {
  return approved.length + passedOn.length > 0;
}

function describeAnswer(answer: HostsApproval, rest: string): string {
  const words = approvalWords(answer).map(shown).join('\n');
  return isApproved(answer) ? `${words} Watch it with: botsync status${rest}` : words;
}
