import { EXIT } from '../../domain/exit-code.ts';
import { askDaemon } from '../../service/ask-daemon.ts';
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

/** A daemon answers at once, unless it is stopped or swamped. */
const PATIENCE_MS = 10_000;

/** `botsync approve`: lets the running daemon go on with what a guard halted, once. Returns the exit code; throws `UsageError`. */
export async function approve({ source, ...options }: ApproveOptions): Promise<number> {
  const { config } = load(options);
  if (source !== undefined && !config.sources.some(({ name }) => name === source)) {
    const names = config.sources.map(({ name }) => name).join(', ');
    throw new UsageError(`source not found: "${source}"; the config has: ${names}`);
  }
  const target = source === undefined ? '/approve' : `/approve?source=${encodeURIComponent(source)}`;
  const answer = await askDaemon(config.stateFile, 'POST', target, AbortSignal.timeout(PATIENCE_MS));
  switch (answer.kind) {
    case 'absent':
      throw new UsageError(
        `no botsync is running on this state file; run: botsync sync --once --allow-removals${alike(options)}`,
        EXIT.incomplete,
      );
    case 'failed':
      throw new UsageError(answer.reason, EXIT.incomplete);
    case 'ok':
      if (answer.status !== 200)
        throw new UsageError(`the running botsync reports: ${answer.body.trim()}`, EXIT.incomplete);
      return tell(answer.body, options);
  }
}

function tell(body: string, { json }: GlobalOptions): number {
  const { trouble, ...answer } = JSON.parse(body) as ApprovalAnswer;
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
