import type { FileLife } from './file-life.ts';

/** Who may read a file. Source: interface.md, Create or update a file. */
export type AccessPolicy = 'public_content' | 'integrations';

/** What is kept of a file beyond the columns that are searched for. */
export interface FileDetails {
  readonly contentType: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly accessPolicies: readonly AccessPolicy[];
  readonly publicImmediately: boolean;
  readonly indexing: Readonly<Record<string, unknown>> | null;
  readonly indexingStack: string;
  readonly owner: FileOwner;
}

/** The caller that created a file. Source: interface.md, File. */
export interface FileOwner {
  readonly type: 'bot' | 'integration' | 'user';
  readonly id: string;
  readonly name: string;
  readonly alias: string;
}

/** A file as the emulator keeps it; times are epoch milliseconds. */
export interface StoredFile {
  readonly id: string;
  readonly botId: string;
  /** '' for a file of the bot itself. */
  readonly integrationId: string;
  readonly key: string;
  /** New with every upsert, so that content sent for an older one finds no file. */
  readonly uploadId: string;
  readonly sizeBytes: number;
  readonly indexed: boolean;
  readonly expiresAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** When the store had every byte. */
  readonly uploadedAt: number | null;
  /** What becomes of the content; null until the store has it. */
  readonly life: FileLife | null;
  readonly details: FileDetails;
}

/** A row of the table `file`. */
export interface FileRow {
  id: string;
  bot_id: string;
  integration_id: string;
  key: string;
  upload_id: string;
  size: number;
  indexed: number;
  expires_at: number | null;
  created_at: number;
  updated_at: number;
  uploaded_at: number | null;
  details: string;
  key_order: string;
  life: string | null;
}

/** The file of a row. */
export function fromRow(row: FileRow): StoredFile {
  return {
    id: row.id,
    botId: row.bot_id,
    integrationId: row.integration_id,
    key: row.key,
    uploadId: row.upload_id,
    sizeBytes: row.size,
    indexed: row.indexed === 1,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    uploadedAt: row.uploaded_at,
    life: row.life === null ? null : (JSON.parse(row.life) as FileLife),
    details: JSON.parse(row.details) as FileDetails,
  };
}

/** Whether the content of a file is there to be read. */
export function hasContent(file: StoredFile): boolean {
  return file.uploadedAt !== null && file.life?.uploadFailure === null;
}
