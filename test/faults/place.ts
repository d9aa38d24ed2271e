import { setImmediate } from 'node:timers/promises';
import { onTestFinished, vi } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import type { FaultAction } from '../../src/emulator/faults.ts';
import { listen } from '../platform/fixture.ts';
import type { Call, FileOperation } from './columns.ts';
import { FAULTS, type Cause, type FaultName } from './faults.ts';
import { openEncryptedGate, openGate, type Gate } from './gate.ts';

/** Turns of the event loop after which the emulator has seen that a connection was closed. */
const TURNS_TO_SEE = 3;

/** Where one fault strikes one operation, and nothing else of the same. */
export interface Place {
  /** The address that botsync knows the platform by; `null`: the emulator's own. */
  readonly url: string | null;
  /** The platform's time for a moment of ours, epoch milliseconds. */
  readonly platformTime: (ourMs: number) => number;
  /** Takes the emulator that plays the platform. */
  readonly settle: (emulator: Emulator) => void;
  /** From now on the fault strikes. `key`: only requests about this file. */
  readonly strike: (key: string | null, nowMs: number) => Promise<void>;
  readonly end: () => Promise<void>;
  /** Requests that came to where the platform sent us, and that we should not have gone to. */
  readonly strayed: () => number;
  /** Whether the emulator sees the requests that are struck. */
  readonly isSeen: boolean;
}

/** Prepares a place for a fault of an operation. */
export async function preparePlace(fault: FaultName, operation: FileOperation | Call): Promise<Place> {
  const cause: Cause = FAULTS[fault];
  const isUpload = operation === 'upload';
  const elsewhere = await openElsewhere();
  const gate = await gateFor(cause);
  let emulator: Emulator | null = null;
  const skewMs = cause.kind === 'skew' ? cause.aheadMs : 0;
  const platform = (): Emulator => {
    if (emulator === null) throw new Error('the place has no platform yet');
    return emulator;
  };
  const onRequests = (struck: string, action: FaultAction, key: string | null): void => {
    platform().faults.add({ operation: struck, times: Infinity, ...(key !== null && { key }), ...action });
  };

  async function strike(key: string | null, nowMs: number): Promise<void> {
    switch (cause.kind) {
      case 'request':
        onRequests(operation, withSecret(cause.action(nowMs), operation, platform()), key);
        break;
      case 'redirect':
        onRequests(operation, { kind: 'redirect', location: `${elsewhere.url}/elsewhere` }, key);
        break;
      case 'expired':
        onRequests('upsert', { kind: 'expired-upload-url' }, key);
        break;
      case 'dead':
        if (isUpload) onRequests('upsert', { kind: 'upload-url-at', origin: 'http://127.0.0.1:1' }, key);
        else await gate?.shut();
        break;
      case 'unknown-authority':
        if (isUpload) onRequests('upsert', { kind: 'upload-url-at', origin: gate?.url ?? '' }, key);
        distrust();
        break;
      case 'skew':
        // A clock is off from the beginning: one that jumps makes files expire.
        break;
    }
  }

  /** Content goes through the gate, to where it would go without: from an encrypted platform it may not go elsewhere. */
  function encryptUploads(): void {
    if (gate !== null && !isUpload) onRequests('upsert', { kind: 'upload-url-at', origin: gate.url }, null);
  }

  async function end(): Promise<void> {
    // The emulator has to see first that a request was given up: else it carries it out when nothing holds it back.
    for (let turn = 0; turn < TURNS_TO_SEE; turn++) await setImmediate();
    platform().faults.clear();
    if (cause.kind === 'dead' && !isUpload) await gate?.reopen();
    if (cause.kind === 'unknown-authority') {
      encryptUploads();
      trust();
    }
  }

  if (cause.kind === 'unknown-authority') trust();
  return {
    url: isUpload ? null : (gate?.url ?? null),
    platformTime: (ourMs) => ourMs + skewMs,
    settle: (settled) => {
      emulator = settled;
      gate?.leadTo(settled.baseUrl);
      if (cause.kind === 'unknown-authority') encryptUploads();
    },
    strike,
    end,
    strayed: elsewhere.requests,
    isSeen: cause.kind !== 'dead' && cause.kind !== 'unknown-authority',
  };
}

async function gateFor(cause: Cause): Promise<Gate | null> {
  if (cause.kind !== 'dead' && cause.kind !== 'unknown-authority') return null;
  const gate = await (cause.kind === 'dead' ? openGate() : openEncryptedGate());
  onTestFinished(gate.shut);
  return gate;
}

/** Certificates of any authority are believed: of the whole process, so that only one place at a time may do this. */
function trust(): void {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
}

function distrust(): void {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', undefined);
}

async function openElsewhere(): Promise<{ url: string; requests: () => number }> {
  let requests = 0;
  const server = await listen((message, response) => {
    requests += 1;
    message.resume();
    response.end('{}');
  });
  onTestFinished(server.close);
  return { url: server.url, requests: () => requests };
}

/** What a platform repeats is what it was sent. */
function withSecret(action: FaultAction, operation: string, { token, userKey }: Emulator): FaultAction {
  const secret = operation === 'create-message' ? userKey : token;
  return JSON.parse(JSON.stringify(action).replaceAll('TOKEN', secret)) as FaultAction;
}
