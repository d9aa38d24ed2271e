import { retryPorts } from './retry.ts';
import { isContentConfirmed } from '../../domain/change-in-place.ts';
import type { WaitCause } from '../../domain/obstacle.ts';
import type { FileRecord } from '../../domain/record.ts';
import { sentSettingsOf } from '../../domain/settings.ts';
import type { RowId } from '../../store/file-reader.ts';
import type { Attempt } from '../../store/state-store.ts';
import { compareContent, type Comparison } from '../../files/compare-content.ts';
import { type SendTask, sendWithRetries, type SenderPorts, type Sent } from './send-file.ts';
import { isStillThere } from '../sources/directory-identity.ts';
import type { WalkContext } from './sync-context.ts';
import { kindOfSend } from '../plan/outcome.ts';
import { adoptFile } from './adopt-file.ts';
import { changedFileOf, changeInPlace, inPlaceTaskOf } from './change-in-place.ts';
import { noteItem } from './note-item.ts';
import { noteSent, NOT_FINISHED } from './note-sent.ts';
import { SendWatch } from './send-watch.ts';
import type { Source } from '../sources/source.ts';
import { type PlannedSend, takesRoom, wasSentSince } from '../plan/plan-item.ts';

/** Sends one planned file, records the result and reports it. */
export function sendPlannedFile(
  item: PlannedSend,
  source: Source,
  target: number,
  context: WalkContext,
): Promise<void> {
  const { file: stage } = context.stages;
  const id: RowId = { target, key: item.key };
  return context.keyLocks.run(id, item.fingerprint, async (hadToWait) => {
    stage.begin();
    try {
      await new PlannedFile(item, source, id, context).send(hadToWait);
    } finally {
      stage.end();
    }
  });
}

class PlannedFile {
  #item: PlannedSend;
  readonly #source: Source;
  readonly #id: RowId;
  readonly #context: WalkContext;
  readonly #watch: SendWatch;
  /** Its record before it is sent. */
  #before: FileRecord | null;
  /** A failed attempt may have left something on the platform. */
  #mayBeThere = false;

  constructor(item: PlannedSend, source: Source, id: RowId, context: WalkContext) {
    this.#item = item;
    this.#source = source;
    this.#id = id;
    this.#context = context;
    this.#before = item.record;
    const outgoing = { source: source.config.name, path: item.path, sizeBytes: item.sizeBytes };
    this.#watch = new SendWatch(outgoing, context.emit, context.clock);
  }

  async send(hadToWait: boolean): Promise<void> {
    const { state, round, claims } = this.#context;
    const { target, key } = this.#id;
    // The planned record may be outdated: a rescan of this path may have sent the file since.
    if (hadToWait || round.hadRescans) this.#before = state.find(this.#id);
    if (await this.#needsNoSending()) {
      claims.release(target, key);
      return;
    }
    // Where a change in place was not possible, the content is sent.
    this.#item = { ...this.#item, isInPlace: false };
    const noted = this.#noteIntent();
    // From here on the record represents it.
    claims.release(target, key);
    await noted;
    const { stop, abort } = this.#context;
    const sent = await sendWithRetries(this.#task(), this.#ports(), stop, abort);
    this.#withdrawIntent(sent);
    this.#noteUnsent(sent);
    const { tookMs } = this.#watch;
    const file = { id: this.#id, item: this.#item, source: this.#source, tookMs };
    noteSent(sent, this.#mayBeThere, file, this.#context);
  }

  /** Returns whether the file must not be sent: the platform has it already, or it cannot be sent now. */
  async #needsNoSending(): Promise<boolean> {
    const { found, kind, record } = this.#item;
    if (found?.kind === 'adoptable') {
      const mayAdopt = this.#before === null && !this.#context.stop.aborted;
      const task = { item: this.#item, found, source: this.#source, id: this.#id };
      return (mayAdopt && (await adoptFile(task, this.#context))) || !(await this.#mayBegin());
    }
    const wasSent = this.#before !== record && wasSentSince(this.#item, this.#before);
    if ((kind === 'verify' || wasSent) && (await this.#isSame())) return true;
    if (!(await this.#mayBegin())) return true;
    if (!this.#mayChangeInPlace() || !(await this.#hasTrustedContent())) return false;
    return await this.#changeInPlace();
  }

  /**
   * Returns whether the record is still the one that a change in place was planned with: the file may have waited for
   * its mark.
   */
  #mayChangeInPlace(): boolean {
    const { isInPlace, record, reason } = this.#item;
    const now = this.#before;
    if (!isInPlace || now === null || record === null) return false;
    const isAsPlanned =
      now.fingerprint === record.fingerprint && now.settingsDigest === record.settingsDigest;
    return isAsPlanned && isContentConfirmed(now, reason);
  }

  /** Returns whether the file has the recorded content, by its fingerprint or by reading it. */
  async #hasTrustedContent(): Promise<boolean> {
    if (this.#before?.trusted === true) return true;
    const { state } = this.#context;
    const recorded = state.find(this.#id)?.sha256 ?? null;
    if (recorded === null) return false;
    const compared = await this.#compareWith(recorded);
    if (compared.kind !== 'same') return false;
    state.recordTouched(this.#id, compared.fingerprint, compared.trusted);
    return true;
  }

  #compareWith(sha256: Buffer): Promise<Comparison> {
    const { clock, transfer } = this.#context;
    return transfer(() => compareContent(this.#source, this.#item.path, sha256, clock.now()), 0);
  }

  /** Changes only the settings on the platform. Returns `false` if the content must be sent. */
  async #changeInPlace(): Promise<boolean> {
    const { state, clock, summary, emit, confirmations } = this.#context;
    const task = inPlaceTaskOf(this.#item, this.#source, this.#id, state);
    if (task === null) return false;
    const { settings, digest } = this.#item.resolved;
    state.remote.rememberSettings(digest, () => sentSettingsOf(settings));
    if (digest !== this.#item.record?.settingsDigest) await state.remote.beginChanging(this.#id, digest);
    const ended = await changeInPlace(task, this.#context);
    const { kind, counts, reason } = kindOfSend(this.#item);
    const { path, key } = this.#item;
    const event = { kind, source: this.#source.config.name, path, key, reason } as const;
    switch (ended.kind) {
      case 'needs-content':
        return false;
      case 'changed':
        state.remote.recordChanged(this.#id, changedFileOf(task, ended, clock.now()), clock.now());
        confirmations?.noteSent();
        summary[counts] += 1;
        emit({ kind: 'sent', bytes: 0 });
        emit({ kind: 'file', file: { ...event, outcome: 'done' } });
        return true;
      case 'failed':
        summary.failed += 1;
        this.#notePending(ended.failure.message);
        emit({
          kind: 'file',
          file: { ...event, outcome: 'failed', error: ended.failure.message },
          failure: ended.failure,
        });
        return true;
      case 'not-tried':
        summary.pending += 1;
        this.#notePending();
        return true;
    }
  }

  /** Returns whether the file has the recorded content after all; then records its new fingerprint. */
  async #isSame(): Promise<boolean> {
    const { state, summary } = this.#context;
    const stored = state.find(this.#id);
    const recorded = stored?.sha256 ?? null;
    if (stored === null || recorded === null) return false;
    const { path, reason } = this.#item;
    const compared = await this.#compareWith(recorded);
    if (compared.kind !== 'same') {
      // If it is not sent now, only this shows the next pass that it may have changed.
      if (reason === 'in-doubt') state.recordTouched(this.#id, stored.fingerprint, false);
      return false;
    }
    state.recordTouched(this.#id, compared.fingerprint, compared.trusted);
    if (stored.differs === 'replaced' || stored.verdict === 'unsearchable') {
      const held = { kind: 'hold', path, key: this.#id.key, record: stored } as const;
      noteItem(held, this.#source, this.#id.target, this.#context);
    } else summary.unchanged += 1;
    return true;
  }

  /** Returns whether the file may be sent now; marks it as pending otherwise. */
  async #mayBegin(): Promise<boolean> {
    const { stop, breaker, changeFeed, roots, round, summary, isPaused } = this.#context;
    const { path, fingerprint } = this.#item;
    const { name } = this.#source.config;
    const isRootThere = await roots.isThere(this.#source);
    // Since the planning, patterns may have changed to ignore it, or the source's directory may have been replaced.
    const isAstray = changeFeed.ignores(name, path) || !isRootThere;
    const isPossible = !stop.aborted && !breaker.isHopeless && this.#refusal === null && !isAstray;
    if (isPossible && !isPaused()) return true;
    summary.pending += 1;
    round.unsent.add(name, path, fingerprint);
    // A pause may last, and its end may be decided by what waits: so new files are noted as well.
    if (!isAstray && (this.#before !== null || isPossible)) this.#notePending();
    return false;
  }

  /** Why files like this cannot be sent now; `null`: they can. */
  get #refusal(): string | null {
    const { blockade } = this.#context.round;
    const needsRoom = !this.#item.isInPlace && takesRoom(this.#item);
    return blockade.reasonAgainst(this.#source.config.botId, needsRoom);
  }

  /** Marks the file as not in sync, with the reason. */
  #notePending(failure?: string): void {
    const { state, round, stop, isPaused } = this.#context;
    const message = failure ?? this.#refusal;
    const kind = stop.aborted ? 'stopped' : isPaused() ? 'paused' : 'not-accepting';
    const cause: WaitCause = message === null ? { kind } : { kind: 'platform', message };
    const { path, key } = this.#item;
    const reason = { kind: 'waiting', cause } as const;
    state.problems.note({ source: this.#source.config.name, path, key, kind: 'pending', reason }, round.pass);
  }

  /** Resolves once the intent to send is on disk. */
  #noteIntent(): Promise<void> {
    const { state, clock, indexWarnings } = this.#context;
    const { path, resolved } = this.#item;
    if (resolved.settings.index) indexWarnings.note(path);
    return state.beginSending(this.#id, this.#source.config.name, path, this.#planned, clock.now());
  }

  get #planned(): Attempt {
    const { fingerprint, trusted, resolved, sizeBytes } = this.#item;
    return { fingerprint, trusted, settingsDigest: resolved.digest, sizeBytes };
  }

  #task(): SendTask {
    const { path, key, ruled } = this.#item;
    const { botId, name } = this.#source.config;
    const markedAs = this.#context.config.platform.mark ? name : null;
    return { root: this.#source, path, key, botId, resolved: ruled, markedAs };
  }

  #ports(): SenderPorts {
    const { platform, config, clock, round, roots, isPaused } = this.#context;
    const { botId, name } = this.#source.config;
    return {
      ...retryPorts(name, this.#item.path, this.#item.sizeBytes, this.#context),
      platform: this.#watch.through(platform),
      limits: config.limits,
      now: clock.now,
      // Waiting for a transfer or an outage may have taken hours. A pause lets what began be completed: the platform may
      // have nothing of the file now.
      isBlocked: () =>
        this.#refusal !== null || !roots.isThereNow(this.#source) || (isPaused() && !this.#mayBeThere),
      onAttempt: (result) => {
        if (result.kind === 'failed') round.blockade.note(result.failure, botId);
        this.#mayBeThere ||= 'upserted' in result && result.upserted;
      },
      settleMs: config.watch.settleMs,
    };
  }

  /** Withdraws the intent if no upsert was sent. */
  #withdrawIntent(sent: Sent): void {
    const { state, abort, clock, claims, changeFeed } = this.#context;
    const wasNeverThere = sent.kind === 'failed' && abort.aborted && !this.#mayBeThere;
    if (!isWithoutUpsert(sent) && !wasNeverThere) return;
    if (this.#mayBeThere) {
      const failure = { state: 'failed', reason: NOT_FINISHED, upserted: true } as const;
      state.recordFailure(this.#id, this.#planned, failure, clock.now());
    } else if (this.#before === null) {
      state.forget(this.#id);
      for (const other of claims.takeOthers(this.#id.target, this.#id.key))
        changeFeed.rescan(other.source, other.path);
    } else state.takeBack(this.#id, this.#before.state);
  }

  /** Notes that the platform does not have the file as it is. */
  #noteUnsent(sent: Sent): void {
    const { round, config, clock, changeFeed, isWatched } = this.#context;
    const { path, fingerprint } = this.#item;
    const { name } = this.#source.config;
    // Where changes are watched, a renamed file is found under its new name once it has settled.
    if (sent.kind === 'vanished') {
      const { settleMs, maxDelayMs } = config.watch;
      round.unsent.addVanished(fingerprint, clock.monotonic() + settleMs + maxDelayMs);
      changeFeed.rescan(name, path);
    } else if (sent.kind === 'not-tried' && this.#item.record !== null && isStillThere(this.#source)) {
      // Nothing is recorded about a directory that replaced the source's.
      this.#notePending();
    }
    const isNoLoss = sent.kind === 'sent' || (sent.kind === 'vanished' && isWatched);
    if (!isNoLoss) round.unsent.add(name, path, fingerprint);
  }
}

/** Returns whether the last attempt ended before its upsert. */
function isWithoutUpsert({ kind }: Sent): boolean {
  return kind === 'vanished' || kind === 'unreadable' || kind === 'inadmissible' || kind === 'not-tried';
}
