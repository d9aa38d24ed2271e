import type { Config } from '../../config/config.ts';
import type { Halt } from '../../domain/guard.ts';
import { fileKey } from '../../domain/key.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { StateReader } from '../../state/state-reader.ts';
import { isSameDirectory } from './directory-identity.ts';
import { missingMounts } from './mounts.ts';
import { isFound } from './presence.ts';
import type { Source } from './source.ts';

/** So many of a source's records are looked for when its directory is another one than before. */
const SAMPLE = 200;

/**
 * What speaks against a source's directory being what it was last time: a failed mount is no deletion.
 *
 * A directory that was replaced passes when it holds the files the old one had: a deployment, a restored backup, a new
 * machine. When it does not, it may be the place where something failed to be mounted. The same goes for what was mounted
 * below it.
 */
export function checkRoot(
  source: Source,
  target: number,
  state: StateReader,
  isEmpty: boolean,
  removals: Config['removals']['mode'],
): Halt[] {
  const { root, identity } = source;
  if (isEmpty) {
    if (!hasLostFiles(source, target, state, removals)) return [];
    const reason = `${root} has no files, although files of it were recorded`;
    return [{ kind: 'emptied', reason, directory: identity }];
  }
  return [
    checkIdentity(source, target, state, removals),
    checkMounts(source, target, state, removals),
  ].flatMap((halt) => halt ?? []);
}

function checkIdentity(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
): Halt | null {
  const { root, identity, config } = source;
  const seen = state.source(config.name);
  if (seen === null || seen.identity === '') return null;
  // Someone named another directory. Where nothing is ever removed, that does no harm.
  if (seen.directory !== root && removals === 'keep') return null;
  if (isSameDirectory(seen.identity, identity)) return null;
  const records = state.records(target, config.name);
  let looked = 0;
  let found = 0;
  for (let record = records.current; record !== null && looked < SAMPLE; record = records.current) {
    if (isAtStake(record, source, removals)) {
      looked += 1;
      if (isFound(source, record.path)) found += 1;
    }
    records.advance();
  }
  if (found * 2 >= looked) return null;
  const reason = `${root} is not the same directory as before, and contains ${found} of ${looked} recorded files checked`;
  return { kind: 'replaced', reason, directory: identity };
}

/** Whether a file system is mounted no more below a source that holds files of it: what does not remove needs no care. */
function checkMounts(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
): Halt | null {
  if (removals === 'keep') return null;
  const holdsFiles = (mount: string): boolean => {
    const records = state.recordsAt(target, source.config.name, mount);
    for (let record = records.current; record !== null; record = records.current) {
      if (isAtStake(record, source, removals) || record.absence === 'removed') return true;
      records.advance();
    }
    return false;
  };
  const mounts = missingMounts(source, state.mounts(source.config.name)).filter(holdsFiles);
  if (mounts.length === 0) return null;
  const places = mounts.map((mount) => `${source.root}/${mount}`).join(', ');
  return { kind: 'unmounted', reason: `no longer mounted: ${places}`, mounts };
}

/**
 * Whether the records name a file that ought to be there, as none does once all were newly ignored. One that was seen
 * to go is among them as long as it is still to be removed for that.
 */
function hasLostFiles(
  source: Source,
  target: number,
  state: StateReader,
  removals: Config['removals']['mode'],
): boolean {
  const records = state.records(target, source.config.name);
  for (let record = records.current; record !== null; record = records.current) {
    const isSeenToGo = removals !== 'keep' && record.absence === 'removed' && record.state !== 'removing';
    const isLost = isAtStake(record, source, removals) || isSeenToGo;
    if (isLost && !source.filter.ignoresFile(record.path)) return true;
    records.advance();
  }
  return false;
}

/**
 * Whether a file was there last time, or would now be removed though it was set aside: the ignore file that said so may
 * have gone with the directory.
 */
function isAtStake(
  record: FileRecord,
  { config, filter }: Source,
  removals: Config['removals']['mode'],
): boolean {
  if (record.absence !== 'set-aside') return record.absence === null;
  if (removals === 'keep' || record.state === 'removing') return false;
  return fileKey(config.keyPrefix, record.path) === record.key && !filter.ignoresFile(record.path);
}
