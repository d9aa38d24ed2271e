import { EXIT } from '../../domain/exit-code.ts';
import { commandDaemon } from '../command-daemon.ts';
import { alike, type GlobalOptions } from '../global-options.ts';
import { load } from '../../library/load.ts';
import { approvalWords, type HostsApproval } from '../../words/asked.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync approve`. */
export interface ApproveOptions extends GlobalOptions {
  /** One source; without it, all. */
  readonly source: string | undefined;
}

interface ApprovalAnswer extends HostsApproval {
  /** Why the daemon cannot work now. */
  readonly trouble: string | null;
}

const PATIENCE_MS = 10_000;

/** `botsync approve`: lets the running daemon go on with what a guard halted, once. Returns the exit code; throws `UsageError`. */
export async function approve({ source, ...options }: ApproveOptions): Promise<number> {
  const { config } = load(options);
  if (source !== undefined && !config.sources.some(({ name }) => name === source)) {
    const names = config.sources.map(({ name }) => name).join(', ');
    throw new UsageError(`source not found: "${source}"; the config has: ${names}`);
  }
  const answer = await commandDaemon(config.stateFile, {
    target: source === undefined ? '/approve' : `/approve?source=${encodeURIComponent(source)}`,
    patienceMs: PATIENCE_MS,
    otherwise: `run: botsync sync --once --allow-removals${alike(options)}`,
  });
  return tell(answer as ApprovalAnswer, options);
}

function tell({ trouble, ...answer }: ApprovalAnswer, { json }: GlobalOptions): number {
  if (trouble !== null) throw new UsageError(trouble, EXIT.incomplete);
  const { approved, missing, passedOn = [], failed = [] } = answer;
  const words = approvalWords(answer).map(shown);
  if (json) printJson(answer);
  else if (approved.length + passedOn.length > 0)
    print([`${words[0] ?? ''} Watch it with: botsync status`, ...words.slice(1)].join('\n'));
  else print(words.join('\n'));
  const isNone = approved.length + passedOn.length === 0;
  return missing.length + failed.length > 0 && isNone ? EXIT.incomplete : EXIT.ok;
}
