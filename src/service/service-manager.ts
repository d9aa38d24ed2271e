/** What tells whether a service manager reads what this process writes to standard error. */
export interface StandardErrorFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  /** Of standard error; `null`: there is none. */
  readonly stat: { readonly dev: bigint; readonly ino: bigint } | null;
}

/**
 * Whether the process was started by a service manager that keeps its log: standard error leads to the journal
 * (JOURNAL_STREAM, systemd.exec(5)), the service manager started this very process (SYSTEMD_EXEC_PID), or it waits to be
 * told that the service is up (NOTIFY_SOCKET). INVOCATION_ID proves nothing: a shell in a desktop session has it as well,
 * and whatever is run in it.
 */
export function servesStandardError({ env, pid, stat }: StandardErrorFacts): boolean {
  const { JOURNAL_STREAM: journal, SYSTEMD_EXEC_PID: started, NOTIFY_SOCKET: notify } = env;
  if (stat !== null && journal === `${stat.dev}:${stat.ino}`) return true;
  return started === String(pid) || (notify !== undefined && notify !== '');
}
