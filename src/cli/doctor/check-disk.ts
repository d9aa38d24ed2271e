import { describeHalt } from '../../words/halt.ts';
import { describeObstacle } from '../../words/obstacle.ts';
import { accessSync, constants, readFileSync, existsSync, statfsSync } from 'node:fs';
import prettyBytes from 'pretty-bytes';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../service/system-clock.ts';
import { scan } from '../../files/scan.ts';
import { findSources, type Source } from '../../sync/sources/source.ts';
import { Turns } from '../../sync/plan/turns.ts';
import { unmatchedPatterns } from '../../sync/plan/pattern-warnings.ts';
import { broken, doubtful, fine, orFinding, type Diagnosis, type Examination } from './finding.ts';
import { dirname } from 'node:path';
import ms from 'ms';
import { commandEnd } from '../global-options.ts';
import { accessObstacle } from '../../service/access-obstacle.ts';
import { overview } from '../../sync/plan/overview.ts';

interface Survey {
  files: number;
  bytes: number;
  /** Directories to watch, including the source's own. */
  directories: number;
  /** Unreadable files and directories, and those that can never be synced. */
  troubles: number;
  /** With the reason. */
  firstTrouble: string | null;
  /** Every file was checked. */
  isComplete: boolean;
}

/** Checks whether the sources exist, can be read and watched, and how much they contain. */
export async function checkDirectories({
  loaded: { config },
  platformName,
  session: { signal },
}: Examination): Promise<Diagnosis[]> {
  const diagnoses: Diagnosis[] = [];
  const seen: Source[] = [];
  let directories = 0;
  for (const found of findSources(config, platformName)) {
    const { name } = found.config;
    if (found.kind === 'missing') {
      const fix = 'create it, mount it, or correct "directory"';
      diagnoses.push(broken('directories', `${name}: ${describeHalt(found.halt)}`, fix));
      continue;
    }
    const survey = await surveySource(found.source, signal);
    directories += survey.directories;
    if (survey.isComplete) seen.push(found.source);
    diagnoses.push(...describeSurvey(found.source, survey));
  }
  return [...diagnoses, ...checkPatterns(config, seen), ...checkWatches(config, directories)];
}

async function surveySource(source: Source, signal: AbortSignal): Promise<Survey> {
  const survey: Survey = {
    ...{ files: 0, bytes: 0, directories: 1 },
    ...{ troubles: 0, firstTrouble: null, isComplete: false },
  };
  const trouble = (path: string, reason: string): void => {
    survey.troubles += 1;
    survey.firstTrouble ??= `${path}: ${reason}`;
  };
  const filter = {
    ...source.filter,
    ignores: (path: string, isDirectory: boolean): boolean => {
      const isIgnored = source.filter.ignores(path, isDirectory);
      if (isDirectory && !isIgnored) survey.directories += 1;
      return isIgnored;
    },
  };
  const turns = new Turns(systemClock);
  let isComplete = true;
  try {
    for (const entry of scan({ ...source, filter })) {
      if (signal.aborted) return survey;
      switch (entry.kind) {
        case 'file':
          survey.files += 1;
          survey.bytes += Number(entry.facts.size);
          source.rules.resolve(entry.path.normalize('NFC'));
          if (!isReadable(`${source.root}/${entry.path}`)) trouble(entry.path, 'cannot be read by this user');
          break;
        case 'problem':
          trouble(entry.path, describeObstacle(entry.reason));
          break;
        case 'unseen':
        case 'unlisted':
          isComplete = false;
          trouble(entry.path, describeObstacle(entry.reason));
          break;
        case 'skip':
        case 'tick':
          break;
      }
      await turns.step();
    }
    survey.isComplete = isComplete;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    trouble('./', `cannot be listed: ${code}`);
  }
  return survey;
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch (error) {
    // Deleted in the meantime, which is no problem.
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function describeSurvey({ config, root }: Source, survey: Survey): Diagnosis[] {
  const { files, bytes, directories, troubles, firstTrouble } = survey;
  const { name } = config;
  const counts = `${name}: ${counted(files, 'file', 'files')}, ${prettyBytes(bytes)}, in ${counted(directories, 'directory', 'directories')}`;
  const diagnoses =
    files > 0
      ? [fine('directories', counts)]
      : [
          doubtful(
            'directories',
            `${name}: ${root} has no files to sync`,
            'check "directory", "ignore" and .botsyncignore',
          ),
        ];
  if (firstTrouble === null) return diagnoses;
  const more = troubles === 1 ? '' : ` (and ${(troubles - 1).toLocaleString('en')} more)`;
  const fix = 'fix it, or ignore the file: see "ignore" and .botsyncignore';
  return [...diagnoses, broken('directories', `${name}: ${firstTrouble}${more}`, fix)];
}

/** Warns of rules that match no file. */
function checkPatterns(config: Config, seen: readonly Source[]): Diagnosis[] {
  return unmatchedPatterns(config, seen).map(({ field, message, hint }) =>
    doubtful('rules', `${field} ${message}`, hint),
  );
}

function checkWatches({ watch }: Config, directories: number): Diagnosis[] {
  const limit = watch.poll ? null : watchLimit();
  if (limit === null) return [];
  const counts = `${counted(directories, 'directory', 'directories')} to watch, of ${limit.toLocaleString('en')} that the system allows per user`;
  // Other programs of the user need watches, too.
  if (directories <= limit * 0.75) return [fine('watches', counts)];
  const needed = 2 ** Math.ceil(Math.log2(directories * 1.5));
  const fix = `run: sysctl -w fs.inotify.max_user_watches=${needed} (and the same in /etc/sysctl.d/ to keep it)`;
  return [doubtful('watches', `${counts}; changes in the others are found only by rescans`, fix)];
}

/** `null` if there is no limit. */
function watchLimit(): number | null {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8'));
  } catch {
    return null;
  }
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** With less room, the state file soon cannot be written, in bytes. */
const LITTLE_ROOM_BYTES = 100_000_000;

/** Checks whether the state file is readable and writable, and its last pass. */
export async function checkStateFile({
  loaded: { config },
  options,
  platformName,
  records,
}: Examination): Promise<Diagnosis[]> {
  const { stateFile } = config;
  const unwritable = checkWritable(stateFile);
  if (!existsSync(stateFile) && config.cluster === null) {
    return [fine('state', `${stateFile} does not exist yet: no pass has been made`), ...unwritable];
  }
  return await orFinding('state', () =>
    records.read(({ reader, holder }) => {
      const { sources, lastPass } = overview(reader, config, platformName, Date.now());
      const files = sources.reduce((sum, source) => sum + source.files, 0);
      const last =
        lastPass === null ? 'no pass has ended yet' : `the last pass ended ${ago(lastPass.finishedAt)}`;
      const running = holder === null ? '' : `; in use by "${holder.command}", process ${holder.pid}`;
      const halted = sources.filter((source) => source.halted !== null);
      const astray = sources.reduce((sum, { failed, refused }) => sum + failed + refused, 0);
      return [
        fine('state', `${files.toLocaleString('en')} in sync, ${last}${running}`),
        ...halted.map((source) =>
          broken(
            'state',
            `${source.name} is halted: ${source.halted ?? ''}`,
            `check its directory. A missing directory only has to be restored; if everything is as it should be, run: botsync approve${commandEnd(options)}, or without a service botsync sync --once --allow-removals${commandEnd(options)}`,
          ),
        ),
        ...(astray === 0
          ? []
          : [
              doubtful(
                'state',
                `${astray.toLocaleString('en')} failed or refused`,
                'run botsync status for the reasons',
              ),
            ]),
        ...unwritable,
      ];
    }),
  );
}

function checkWritable(stateFile: string): Diagnosis[] {
  const obstacle = accessObstacle(stateFile, 'write');
  return obstacle === null ? [] : [broken('state', obstacle.reason, obstacle.fix)];
}

/** Checks the room on the disk of the state file. */
export function checkRoom({ stateFile }: Config): Diagnosis[] {
  const directory = nearestDirectory(stateFile);
  const { bavail, bsize } = statfsSync(directory);
  const freeBytes = bavail * bsize;
  const room = `${prettyBytes(freeBytes)} free on the disk of ${directory}`;
  return [
    freeBytes >= LITTLE_ROOM_BYTES
      ? fine('disk', room)
      : doubtful('disk', `only ${room}`, 'free some space, or the records cannot be written'),
  ];
}

/** Returns the nearest existing directory above a path. */
function nearestDirectory(path: string): string {
  const parent = dirname(path);
  return existsSync(parent) || parent === path ? parent : nearestDirectory(parent);
}

function ago(moment: string): string {
  return `${ms(Math.max(0, Date.now() - Date.parse(moment)), { long: true })} ago`;
}
