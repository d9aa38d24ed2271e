import { adoptable } from '../../domain/adoption.ts';
import { type FileKey, type RelativePath, fileKey } from '../../domain/key.ts';
import { isContentConfirmed } from '../../domain/change-in-place.ts';
import { decide, type Decision } from '../../domain/decide.ts';
import { renewalTime } from '../../domain/expiry.ts';
import type { ListedFile } from '../../domain/file-catalog.ts';
import {
  fingerprintOf,
  isTrustworthy,
  nanoseconds,
  showsEveryChange,
  type FileFacts,
  type Fingerprint,
} from '../../domain/fingerprint.ts';
import { admit, prepareUpsert, type Limits } from '../../domain/limits.ts';
import { readMark } from '../../domain/mark.ts';
import type { FileRecord } from '../../domain/record.ts';
import type { ResolvedSettings } from '../../domain/rules.ts';
import { HIGHEST_KEY, type RecordCursor } from '../../store/file-reader.ts';

import type { Source } from '../sources/source.ts';
import type { Claims } from './claims.ts';
import type { FoundThere, PathAndKey, PlanItem, PlannedSend } from './plan-item.ts';

/** Records in path order. */
export type Records = Pick<RecordCursor, 'current' | 'advance' | 'seekAfter'>;

/** The input of planning besides the scan and the records. */
export interface PlanPorts {
  readonly target: number;
  readonly claims: Claims;
  readonly limits: Limits;
  /** The platform's time, epoch milliseconds. */
  readonly now: () => number;
  /** Our time, with which the file system stamps files. */
  readonly wallClock: () => number;
  readonly isForced: (path: string) => boolean;
  /** Retry failed files that have not changed since. */
  readonly retriesFailed: boolean;
  /**
   * Returns whether a file may have changed although its fingerprint has not. Called only where the fingerprint does
   * not show every change.
   */
  readonly isInDoubt: (path: RelativePath) => boolean;
  /** Returns the platform's file under a key without a record; `null`: there is none, or it is unknown. */
  readonly listed: (key: FileKey) => ListedFile | null;
  /** Returns whether settings can be changed from one digest to others without sending content. */
  readonly needsNoContent: (before: string, after: ResolvedSettings) => boolean;
  /** Moves a record of another path or source to the file that has its key now. */
  readonly adopt: (record: FileRecord, source: Source, path: RelativePath) => void;
}

/**
 * Plans a file of a source, and the records of its path under other keys. The records are at its path before, and after
 * it afterwards.
 */
export function* planFile(
  source: Source,
  path: RelativePath,
  facts: FileFacts,
  records: Records,
  ports: PlanPorts,
): Generator<PlanItem, void> {
  const key = fileKey(source.config.keyPrefix, path);
  let own: FileRecord | null = null;
  for (let current = records.current; current?.path === path; current = records.current) {
    if (current.key === key) own = current;
    // The key has changed: the old one is removed like a deleted file.
    else yield { kind: 'absent', record: current, absence: 'removed' };
    records.advance();
  }
  const fingerprint = fingerprintOf(facts);
  const ruled = source.rules.resolve(path.normalize('NFC'));
  const admission = admit(ruled, Number(facts.size), ports.limits);
  if (admission.kind !== 'send') {
    yield { kind: admission.kind, path, key, record: own, fingerprint, reason: admission.reason };
    return;
  }
  const claim = own === null ? ports.claims.claim(ports.target, key, source, path) : null;
  if (claim?.kind === 'taken') {
    const { source: owner, path: first } = claim;
    const reason = { kind: 'key-taken', source: owner, path: first } as const;
    yield { kind: 'problem', path, key, fingerprint, reason, hidesFiles: false };
    return;
  }
  const adopted = claim?.kind === 'adopt' ? claim.record : null;
  const record = adopted === null ? own : { ...adopted, absence: null };
  const { resolved } = admission;
  const item = planAdmitted({ path, key, facts, fingerprint, ruled, resolved }, record, ports);
  if (adopted !== null && item.kind !== 'refuse') {
    ports.adopt(adopted, source, path);
    records.seekAfter({ path, key: HIGHEST_KEY });
  }
  yield item;
}

/** A file within the limits. */
interface AdmittedFile extends PathAndKey {
  readonly facts: FileFacts;
  readonly fingerprint: Fingerprint;
  readonly ruled: ResolvedSettings;
  readonly resolved: ResolvedSettings;
}

function planAdmitted(file: AdmittedFile, record: FileRecord | null, ports: PlanPorts): PlanItem {
  const { path, key, fingerprint, resolved } = file;
  const nowMs = ports.now();
  const isInDoubt = !showsEveryChange(fingerprint) && ports.isInDoubt(path);
  const decision = decide({ fingerprint, resolved, isInDoubt }, record, nowMs, ports.isForced(path));
  if (record !== null && !ports.retriesFailed && failedAsItIs(record, fingerprint, resolved))
    return { kind: 'hold', path, key, record };
  switch (decision.kind) {
    case 'none':
      return unchanged(file, record as FileRecord);
    case 'hold':
      return { kind: 'hold', path, key, record: record as FileRecord };
    case 'send': {
      const prepared = prepareUpsert(key, Number(file.facts.size), resolved.settings, nowMs);
      if (prepared.kind === 'refuse')
        return { kind: 'refuse', path, key, record, fingerprint, reason: prepared.reason };
      return planSend(decision, file, record, isInDoubt, ports);
    }
    case 'verify':
      return planned(decision, file, record, WITH_CONTENT, ports);
  }
}

function planSend(
  decision: Extract<Decision, { kind: 'send' }>,
  file: AdmittedFile,
  record: FileRecord | null,
  isInDoubt: boolean,
  ports: PlanPorts,
): PlannedSend {
  if (record !== null) {
    const isInPlace =
      record.fingerprint === file.fingerprint &&
      !isInDoubt &&
      isContentConfirmed(record, decision.reason) &&
      ports.needsNoContent(record.settingsDigest, file.resolved);
    return planned(decision, file, record, isInPlace ? IN_PLACE : WITH_CONTENT, ports);
  }
  const there = ports.listed(file.key);
  if (there === null) return planned(decision, file, record, WITH_CONTENT, ports);
  const found = foundThere(there, file, ports);
  const how = { isInPlace: false, found };
  if (found.kind !== 'adoptable') return planned(decision, file, record, how, ports);
  return planned({ kind: 'verify', reason: 'listed' }, file, record, how, ports);
}

function foundThere(
  there: ListedFile,
  { path, facts, resolved }: AdmittedFile,
  ports: PlanPorts,
): FoundThere {
  if (readMark(there.metadata) === null) return { kind: 'foreign' };
  const local = { sizeBytes: Number(facts.size), settings: resolved.settings };
  const found = adoptable(there, local, ports.now());
  const isSent = found === null || found.told === 'other' || ports.isForced(path);
  return isSent ? { kind: 'ours' } : { kind: 'adoptable', ...found };
}

function failedAsItIs(record: FileRecord, fingerprint: Fingerprint, { digest }: ResolvedSettings): boolean {
  return record.state === 'failed' && record.fingerprint === fingerprint && record.settingsDigest === digest;
}

function unchanged({ path, key, resolved }: AdmittedFile, record: FileRecord): PlanItem {
  const { expiresAtMs } = record;
  const renewAtMs = expiresAtMs === null ? null : renewalTime(resolved.settings.expiry, expiresAtMs);
  return { kind: 'unchanged', path, key, record, renewAtMs };
}

const WITH_CONTENT = { isInPlace: false, found: null };
const IN_PLACE = { isInPlace: true, found: null };

/** Lists every property: copying an object gives it a shape of its own, which is slow. */
function planned(
  { kind, reason }: Pick<PlannedSend, 'kind' | 'reason'>,
  { path, key, facts, fingerprint, ruled, resolved }: AdmittedFile,
  record: FileRecord | null,
  { isInPlace, found }: Pick<PlannedSend, 'isInPlace' | 'found'>,
  ports: PlanPorts,
): PlannedSend {
  const sizeBytes = Number(facts.size);
  const trusted = isTrustworthy(facts, nanoseconds(ports.wallClock()));
  return {
    kind,
    reason,
    path,
    key,
    fingerprint,
    trusted,
    sizeBytes,
    ruled,
    resolved,
    record,
    isInPlace,
    found,
  };
}
