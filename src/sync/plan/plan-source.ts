import { type RelativePath, compareUtf8 } from '../../domain/key.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { ScanEntry } from '../../files/scan.ts';
import { rememberingListings, type IsListed } from '../../files/spelling.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import { isLeftOut, presenceOf } from '../sources/presence.ts';
import type { Source } from '../sources/source.ts';
import { planFile, type PlanPorts, type Records } from './plan-file.ts';
import type { PlanItem } from './plan-item.ts';

/**
 * Merges a scan with the records of its source, both in path order, and plans every path. Carries out nothing except
 * moves of records, which affect later decisions.
 */
export function* planSource(
  source: Source,
  entries: Iterable<ScanEntry>,
  records: Records,
  ports: PlanPorts,
): Generator<PlanItem, void> {
  const lists = rememberingListings();
  for (const entry of entries) {
    if (entry.kind === 'tick') {
      yield entry;
      continue;
    }
    for (
      let record = records.current;
      record !== null && compareUtf8(record.path, entry.path) < 0;
      record = records.current
    ) {
      yield absent(source, record, lists);
      records.advance();
    }
    switch (entry.kind) {
      case 'file':
        yield* planFile(source, entry.path, entry.facts, records, ports);
        break;
      case 'skip':
        for (const record of takeAt(records, entry.path)) yield { kind: 'absent', record, absence: 'kept' };
        yield { kind: 'pass-over', path: entry.path, reason: entry.reason };
        break;
      case 'problem':
      case 'unseen':
        for (const record of takeAt(records, entry.path)) yield { kind: 'absent', record, absence: null };
        yield {
          kind: 'problem',
          path: entry.path,
          key: null,
          reason: entry.reason,
          hidesFiles: entry.kind === 'unseen',
        };
        break;
      case 'unlisted':
        for (
          let record = records.current;
          record?.path.startsWith(entry.path) === true;
          record = records.current
        ) {
          yield { kind: 'absent', record, absence: null };
          records.advance();
        }
        yield { kind: 'problem', path: entry.path, key: null, reason: entry.reason, hidesFiles: true };
        break;
    }
  }
  for (let record = records.current; record !== null; record = records.current) {
    yield absent(source, record, lists);
    records.advance();
  }
}

function absent(source: Source, record: FileRecord, lists: IsListed): PlanItem {
  // Behind a link, botsync does not check what happened to the file.
  if (isLeftOut(source, record.path)) return { kind: 'absent', record, absence: 'kept' };
  const isGone = presenceOf(source, record.path, lists) === 'gone';
  // If the directory was replaced, nothing was deleted, and its next check needs this record.
  const isKnown = record.absence === 'removed' || isStillThere(source);
  return { kind: 'absent', record, absence: isGone && isKnown ? 'removed' : null };
}

function* takeAt(records: Records, path: RelativePath): Generator<FileRecord, void> {
  for (let record = records.current; record?.path === path; record = records.current) {
    yield record;
    records.advance();
  }
}
