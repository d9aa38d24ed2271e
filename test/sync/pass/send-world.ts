import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { FileKey } from '../../../src/domain/key.ts';
import { fingerprintOf } from '../../../src/domain/fingerprint.ts';
import type { FilePlatform } from '../../../src/domain/file-catalog.ts';
import { resolveSettings, settingsDigest, type RuleSettings } from '../../../src/domain/settings.ts';
import type { Emulator } from '../../../src/emulator/emulator.ts';
import type { EmulatorOptions } from '../../../src/emulator/options.ts';
import {
  sendFile,
  type SentSnapshot,
  type SendPorts,
  type SendResult,
  type SendTask,
} from '../../../src/sync/pass/send-file.ts';
import { start } from '../../emulator/fixture.ts';
import { connect, NEVER, SimulatedClock, START } from '../../platform/fixture.ts';
import { at, makeSource, type TestSource } from '../../files/source-fixture.ts';

/** A bot of the emulator's. */
export const BOT = 'demo-bot';

export const DAY_MS = 86_400_000;

/** Bytes of a file that is streamed. */
export const LARGE = 600_000;

/** The settings that one rule makes for a text. */
export function resolved(rule: RuleSettings = {}): SendTask['resolved'] {
  const settings = resolveSettings([rule], 'text/plain');
  return { settings, digest: settingsDigest(settings) };
}

/** The digest that is recorded of a content. */
export function sha256(content: Buffer | string): Buffer {
  return createHash('sha256').update(content).digest();
}

/** A source, an emulator, and our client between them. */
export interface World extends TestSource {
  readonly emulator: Emulator;
  readonly clock: SimulatedClock;
  readonly platform: FilePlatform;
  readonly send: (
    task?: Partial<SendTask>,
    ports?: Partial<SendPorts>,
    signal?: AbortSignal,
  ) => Promise<SendResult>;
}

/** Makes a world; it goes with the test. */
export async function world(options: Partial<EmulatorOptions> = {}, wallOffsetMs = 0): Promise<World> {
  const source = makeSource();
  const clock = new SimulatedClock();
  clock.wallOffsetMs = wallOffsetMs;
  const { emulator } = await start({ recordRequests: true, now: () => START, ...options });
  const { platform } = connect(emulator.baseUrl, { token: emulator.token, clock });
  return {
    ...source,
    emulator,
    clock,
    platform,
    send: (task = {}, ports = {}, signal = NEVER) =>
      sendFile(
        {
          root: source.source,
          path: at('a.txt'),
          key: 'docs/a.txt' as FileKey,
          botId: BOT,
          resolved: resolved(),
          markedAs: null,
          ...task,
        },
        {
          platform,
          limits: { indexBytes: 1_000_000, fileBytes: 2_000_000, indexableExtensions: [] },
          now: clock.now,
          ...ports,
        },
        signal,
      ),
  };
}

/** The operations that reached the platform, in their order. */
export function operations(emulator: Emulator): string[] {
  return emulator.requests.map(({ operation }) => operation);
}

/** What a file that was written just now looks like to an attempt. */
export function stateOf(path: string, digest = resolved().digest): SentSnapshot {
  const facts = statSync(path, { bigint: true });
  return {
    fingerprint: fingerprintOf(facts),
    trusted: false,
    settingsDigest: digest,
    sizeBytes: Number(facts.size),
  };
}
