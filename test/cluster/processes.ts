import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A process of this machine. `state`: one letter as `ps` has it; T is stopped by a signal, Z dead and not yet collected. */
interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
}

/** How long the kernel may take to stop or end processes, in milliseconds. */
const PATIENCE_MS = 10_000;

/**
 * Stops a process and its children with SIGSTOP, the process first so that it makes no more children; returns the ids of
 * all, the process last, when none of them runs any more. Throws where the process is not there.
 */
export async function freezeFamily(pid: number): Promise<number[]> {
  process.kill(pid, 'SIGSTOP');
  await waitUntil((all) => all.get(pid)?.state === 'T');
  const children = await childrenOf(pid);
  for (const child of children) signal(child, 'SIGSTOP');
  await waitUntil((all) => children.every((child) => 'TZ'.includes(all.get(child)?.state ?? 'Z')));
  return [...children, pid];
}

/** Lets the processes go on that `freezeFamily` has stopped. */
export function thaw(pids: readonly number[]): void {
  for (const pid of pids) signal(pid, 'SIGCONT');
}

/** Ends processes with SIGKILL, and returns when none of them is there any more, or is only not yet collected. */
export async function endHard(pids: readonly number[]): Promise<void> {
  for (const pid of pids) signal(pid, 'SIGKILL');
  await waitUntil((all) => pids.every((pid) => (all.get(pid)?.state ?? 'Z') === 'Z'));
}

/** The ids of the processes whose parent is this one and that are not dead. */
export async function childrenOf(pid: number): Promise<number[]> {
  return [...(await listProcesses()).values()]
    .filter(({ parent, state }) => parent === pid && state !== 'Z')
    .map((child) => child.pid);
}

/** Whether a process is there; a dead one that is not yet collected is not. */
export async function isRunning(pid: number): Promise<boolean> {
  return ((await listProcesses()).get(pid)?.state ?? 'Z') !== 'Z';
}

/**
 * Sends a process SIGQUIT when this one is gone, however it went: a test run that is killed leaves no server behind, a
 * frozen one neither. Returns the shell that waits for that, to be ended when the process has ended before.
 */
export function endWithUs(pid: number): ChildProcess {
  const shell = spawn('sh', ['-c', 'read -r _; kill -QUIT "$0"; kill -CONT "$0"', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  shell.unref();
  if (shell.stdin instanceof Socket) shell.stdin.unref();
  return shell;
}

/** A child may have ended by itself since it was listed. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function waitUntil(isSo: (all: ReadonlyMap<number, ListedProcess>) => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!isSo(await listProcesses())) {
    if (performance.now() > deadline) throw new Error('The processes of PostgreSQL do not obey signals');
    await sleep(2);
  }
}

/** From /proc where there is one, since small images have no `ps`. */
async function listProcesses(): Promise<Map<number, ListedProcess>> {
  const listed = existsSync('/proc/self/stat') ? listFromProc() : await listFromPs();
  return new Map(listed.map((one) => [one.pid, one]));
}

function listFromProc(): ListedProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/u.test(name))
    .flatMap((name) => {
      let line: string;
      try {
        line = readFileSync(`/proc/${name}/stat`, 'utf8');
      } catch {
        return [];
      }
      // The name of the program, in brackets, may have spaces and brackets.
      const [state = '', parent = ''] = line.slice(line.lastIndexOf(')') + 2).split(' ');
      return [{ pid: Number(name), parent: Number(parent), state }];
    });
}

async function listFromPs(): Promise<ListedProcess[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,state=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, state] = line.trim().split(/\s+/u);
    return state === undefined
      ? []
      : [{ pid: Number(pid), parent: Number(parent), state: state.slice(0, 1) }];
  });
}
