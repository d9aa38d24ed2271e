import { createHash } from 'node:crypto';
import type { Emulator } from '../../src/emulator/emulator.ts';
import type { Config } from '../../src/config/config.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { MARK_NAME, readMark } from '../../src/domain/mark.ts';
import { openReader } from '../../src/store/open-reader.ts';
import { differenceOf, type FileRecord } from '../../src/domain/record.ts';
import { overview } from '../../src/sync/plan/overview.ts';
import type { Overview } from '../../src/domain/status.ts';
import { idOf } from './model.ts';

/** The bots of these tests' platform. */
export const BOTS = ['bot-1', 'bot-2'] as const;

/** Keys that no source gives: they were there before botsync. */
export const FOREIGN_PREFIX = 'foreign/';

/** What the platform holds of one key; times in epoch milliseconds. */
export interface RemoteFile {
  readonly botId: string;
  readonly key: string;
  readonly updatedAt: string;
  /** `null`: an upsert erased it, and nothing came after. */
  readonly content: string | null;
  readonly sizeBytes: number;
  readonly index: boolean;
  readonly tags: Readonly<Record<string, string>>;
  /** Without our mark. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The digest in our mark; `null`: it has none. */
  readonly mark: string | null;
  readonly status: string;
  readonly contentType: string;
  readonly expiresAtMs: number | null;
}

/** What the state file says of a file. */
export type Row = FileRecord;

/** What is there at one moment, by `idOf`. */
export interface Observation {
  readonly platform: ReadonlyMap<string, RemoteFile>;
  readonly rows: ReadonlyMap<string, Row>;
  readonly status: Overview;
  /** The platform's time, epoch milliseconds. */
  readonly atMs: number;
}

/** Looks at the platform, and into the state file of a botsync that does not run or, with `inUse`, does. */
export function observe(
  emulator: Emulator,
  config: Config,
  sourceNames: Iterable<string>,
  atMs: number,
  inUse: boolean,
): Observation {
  const platform = new Map<string, RemoteFile>();
  for (const botId of BOTS) {
    for (const file of emulator.listFiles(botId)) {
      platform.set(idOf(botId, file.key), {
        botId,
        key: file.key,
        updatedAt: file.updatedAt,
        content: emulator.readContent(botId, file.key)?.toString('utf8') ?? null,
        sizeBytes: file.size,
        index: file.index,
        tags: file.tags,
        metadata: Object.fromEntries(Object.entries(file.metadata).filter(([name]) => name !== MARK_NAME)),
        mark: readMark(file.metadata as JsonObject)?.sha256 ?? null,
        status: file.status,
        contentType: file.contentType,
        expiresAtMs: file.expiresAt === undefined ? null : Date.parse(file.expiresAt),
      });
    }
  }
  const opened = openReader(config.stateFile, inUse);
  if (opened.kind !== 'open') throw new Error(opened.kind);
  const rows = new Map<string, Row>();
  try {
    const { reader } = opened;
    const status = overview(reader, config, config.platform.baseUrl, atMs);
    for (const botId of BOTS) {
      const target = reader.targetId({ baseUrl: config.platform.baseUrl, botId, identity: '{}' });
      for (const name of sourceNames) {
        const records = reader.records(target, name);
        for (let record = records.current; record !== null; record = records.current) {
          const row = reader.find(record);
          if (row !== null) rows.set(idOf(botId, record.key), { ...row, differs: differenceOf(row) });
          records.advance();
        }
      }
    }
    return { platform, rows, status, atMs };
  } finally {
    opened.close();
  }
}

/** The digest of a content, as the state file has it. */
export function digest(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
