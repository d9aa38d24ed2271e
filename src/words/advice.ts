import { placeOf } from './place.ts';
import { quoteForShell } from '../config/problem.ts';
import { HALT_TRAITS } from '../domain/guard.ts';
import type { SourceStatus, Trouble } from '../domain/status.ts';

export interface Advice {
  /** `decide`: somebody must decide; `fix`: somebody must change something; `wait`: botsync retries automatically. */
  readonly need: 'decide' | 'fix' | 'wait';
  /** A sentence or two; the last introduces the command, if there is one. */
  readonly text: string;
  /** The arguments of `botsync`, without the options that name the configuration; `null`: no command. */
  readonly command: string | null;
}

/** Returns what to do about a problem of a running daemon. `directoryOf`: the directory of a source. */
export function adviceFor(
  trouble: Trouble,
  sources: readonly SourceStatus[],
  directoryOf: (source: string) => string | null,
): Advice {
  switch (trouble.kind) {
    case 'state-file':
      return fix('botsync retries by itself once the state file can be used. To check:', 'doctor');
    case 'paused':
      return wait(
        trouble.until === null
          ? 'Changes are collected, and sent after:'
          : 'Changes are collected, and sent then. To send them earlier:',
        'resume',
      );
    case 'configuration':
      return fix(
        'Correct the file: botsync loads it when it changes, or is reloaded. To check it:',
        'doctor',
      );
    case 'credentials':
      return fix(
        'Check the token, the workspace and the bot ids. To see which of them is refused:',
        'doctor',
      );
    case 'quota':
      return fix(
        'Delete files on the platform, or raise the quota. To see how much is used:',
        'status --usage',
      );
    case 'outage':
      return wait(
        'Nothing needs to be done now: botsync keeps trying. If this lasts, check the connection:',
        'doctor',
      );
    case 'halted':
      return haltAdvice(trouble.source, sources);
    case 'expiring':
      return fix('Files will expire because they could not be renewed. To list them:', 'ls --failed');
    case 'files':
      return filesAdvice(trouble, directoryOf);
    case 'cluster':
      return wait(
        'botsync retries by itself. If this lasts, check the database, and that each host has a name of its own:',
        'cluster status',
      );
    case 'blocked-unit':
      return fix(
        'botsync continues by itself once no other host gives the same keys. Who does:',
        'cluster status',
      );
    case 'free-unit':
      return wait(
        'A host that has its sources takes it by itself. If this lasts, look at the hosts:',
        'cluster status',
      );
    case 'differing-source':
      return fix(
        'Give this host the configuration of the others. To bring a new one, change it on each host and restart or reload them one by one:',
        'cluster status',
      );
    case 'elsewhere':
      return wait(`Details are on ${trouble.host}, where botsync retries by itself. There run:`, 'status');
    case 'interrupted':
    case 'left-out':
    case 'no-pass':
      return wait('A full pass checks all files:', 'rescan');
  }
}

function haltAdvice(name: string, sources: readonly SourceStatus[]): Advice {
  const status = sources.find((one) => one.name === name);
  // A halt that cannot be approved ends automatically once the directory is back.
  if (status !== undefined && (status.halt === null || !HALT_TRAITS[status.halt.kind].isApprovable))
    return fix('botsync continues by itself once the directory is back.', null);
  return {
    need: 'decide',
    text: 'By mistake? Restore the files, and botsync continues by itself. On purpose? Approve it:',
    command: `approve ${quoteForShell(name)}`,
  };
}

function filesAdvice(
  { files }: Extract<Trouble, { kind: 'files' }>,
  directoryOf: (source: string) => string | null,
): Advice {
  const [first] = files;
  if (first === undefined) return wait('botsync retries by itself.', null);
  const { kind, source, path, retry } = first;
  const directory = directoryOf(source);
  const file = quoteForShell(directory === null ? placeOf(source, path) : `${directory}/${path}`);
  if (retry === 'halt') return wait('Retried once the source is no longer halted.', null);
  if (retry !== 'change') return wait('botsync retries by itself. To retry now:', `rescan ${file}`);
  const text =
    kind === 'unsearchable'
      ? 'The bot has the file, but cannot search it. Check that it opens and contains text, then save it again, or change its rules. Details:'
      : 'botsync retries when the file, its rules or the limits of the configuration change. Details:';
  return fix(text, `explain ${file}`);
}

function fix(text: string, command: string | null): Advice {
  return { need: 'fix', text, command };
}

function wait(text: string, command: string | null): Advice {
  return { need: 'wait', text, command };
}
