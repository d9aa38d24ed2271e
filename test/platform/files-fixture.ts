import type { Outcome } from '../../src/domain/failure.ts';
import type { OutgoingContent } from '../../src/domain/file-catalog.ts';
import type { Emulator } from '../../src/emulator/emulator.ts';
import {
  connect,
  inChunks,
  NEVER,
  upsertBody,
  valueOf,
  type ClientOptions,
  type TestClient,
} from './fixture.ts';

/** A bot of the emulator's. */
export const BOT = 'demo-bot';

/** The headers of an identity that says everything. */
export const IDENTITY = {
  'x-integration-id': 'int-1',
  'x-integration-alias': 'alias',
  'x-integration-name': 'name',
  'x-user-id': 'user-1',
  'x-user-role': 'owner',
};

/** Our connections to an emulator, with its token. */
export function connectTo(emulator: Emulator, options: ClientOptions = {}): TestClient {
  return connect(emulator.baseUrl, { token: emulator.token, ...options });
}

/** Content that is sent in one piece. */
export function whole(content: Buffer | string): OutgoingContent {
  return { kind: 'whole', bytes: Buffer.from(content) };
}

/** Content that is sent in chunks. */
export function stream(content: Buffer): OutgoingContent {
  return { kind: 'stream', sizeBytes: content.length, chunks: inChunks(content) };
}

/** Upsert and upload of one file. */
export async function store(
  { platform }: TestClient,
  key: string,
  content: OutgoingContent,
  more: Parameters<typeof upsertBody>[2] = {},
): Promise<Outcome<null>> {
  const sizeBytes = content.kind === 'whole' ? content.bytes.length : content.sizeBytes;
  const file = valueOf(await platform.upsert(BOT, upsertBody(key, sizeBytes, more), NEVER));
  return platform.upload(file, content, more.publicContentImmediatelyAccessible === true, NEVER);
}
