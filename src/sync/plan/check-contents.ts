import pLimit from 'p-limit';
import type { OptionalFailure, Outcome } from '../../domain/failure.ts';
import type { FileRecord } from '../../domain/record.ts';
import { ask, type AskPorts } from '../catalog/ask.ts';
import type { BotAtTarget, ServedCatalog } from '../catalog/served-catalog.ts';
import type { FileDifference } from '../catalog/compare.ts';

/** Reads the content at a URL, which may be a secret, and returns its SHA-256. */
export type ReadDigest = (url: string, signal: AbortSignal) => Promise<Outcome<Buffer, OptionalFailure>>;

export interface ContentPorts {
  readonly at: BotAtTarget;
  readonly catalog: Pick<ServedCatalog, 'get'>;
  readonly ports: AskPorts;
  /** Returns whether something was done to the file since it was compared. */
  readonly isBusy: (sent: FileRecord) => boolean;
  readonly tell: (difference: FileDifference) => void;
  readonly unread: (sent: FileRecord, reason: string) => void;
}

const READ_TOGETHER = 4;

/** Reads the contents of files, and reports those that differ from what was sent. */
export async function checkContents(
  files: readonly FileRecord[],
  readDigest: ReadDigest,
  ports: ContentPorts,
): Promise<void> {
  await pLimit(READ_TOGETHER).map(files, async (one) => {
    if (!ports.ports.stop.aborted) await checkContent(one, readDigest, ports);
  });
}

async function checkContent(sent: FileRecord, readDigest: ReadDigest, ports: ContentPorts): Promise<void> {
  const { at, catalog } = ports;
  let id: string | null = null;
  const read = await ask(async (signal): Promise<Outcome<Buffer, OptionalFailure>> => {
    // A URL is valid only for a short time.
    const file = await catalog.get(at, sent.key, signal);
    if (file.kind === 'failed') return file;
    id = file.value.id;
    const { url } = file.value;
    if (url === null)
      return { kind: 'failed', failure: { kind: 'refused', message: 'the platform names no address' } };
    return await readDigest(url, signal);
  }, ports.ports);
  if (ports.isBusy(sent)) return;
  if (read.kind === 'failed') ports.unread(sent, read.failure.message);
  else if (sent.sha256 !== null && !read.value.equals(sent.sha256))
    ports.tell({
      ...sent,
      id,
      content: null,
      reason: 'content',
      detail: `its content has the SHA-256 ${read.value.toString('hex')} instead of ${sent.sha256.toString('hex')}`,
      noted: 'content',
    });
}
