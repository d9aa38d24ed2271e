import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { UnusableData } from './database.ts';

const identitySchema = z.object({
  token: z.string().min(1),
  workspaceId: z.string().min(1),
  webhookId: z.string().min(1),
  userKey: z.string().min(1),
  signingSecret: z.string().min(1),
});

/** The generated ids and secrets of a data directory. Source: interface.md, Authentication. */
export type Identity = z.infer<typeof identitySchema>;

/**
 * Reads the identity from the data directory (identity.json, mode 0600), or creates it. Throws if the file is
 * unreadable, `UnusableData` if it is damaged.
 */
export function loadIdentity(dataDir: string): Identity {
  const path = join(dataDir, 'identity.json');
  const kept = readIfPresent(path);
  if (kept !== null) return parseIdentity(path, kept);
  const identity: Identity = {
    token: `emulator_token_${random(20)}`,
    workspaceId: `wkspace_${random(13)}`,
    webhookId: random(16),
    userKey: `emulator_user_${random(20)}`,
    signingSecret: random(32),
  };
  const temporary = `${path}.new`;
  writeFileSync(temporary, `${JSON.stringify(identity, null, 2)}\n`, { mode: 0o600 });
  renameSync(temporary, path);
  return identity;
}

function parseIdentity(path: string, text: string): Identity {
  try {
    return identitySchema.parse(JSON.parse(text));
  } catch (error) {
    throw new UnusableData(`${path} is damaged; remove it to get new secrets for the emulator`, {
      cause: error,
    });
  }
}

function readIfPresent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

function random(bytes: number): string {
  return randomBytes(bytes).toString('hex');
}
