import { join } from 'node:path';
import type { Config, SecretReference } from './config.ts';

/** A file that holds a secret. */
export interface SecretFile {
  /** The field of the config that names it. */
  readonly field: string;
  /** Absolute. It may not exist. */
  readonly path: string;
}

/**
 * The files of the secrets that a running daemon reads again, those that systemd hands over among them; not that of the
 * cluster's database, which is read at the start alone. `env`: the process's environment.
 */
export function secretFiles(
  { platform: { token, chat }, service: { control } }: Pick<Config, 'platform' | 'service'>,
  env: Readonly<Record<string, string | undefined>>,
): SecretFile[] {
  const named: [string, SecretReference | null][] = [
    ['platform.token', token],
    ['platform.chat.userKey', chat?.userKey ?? null],
    ['service.control', control],
  ];
  return named.flatMap(([field, reference]) => {
    const path = reference === null ? null : pathOf(reference, env);
    return path === null ? [] : [{ field, path }];
  });
}

function pathOf(
  reference: SecretReference,
  env: Readonly<Record<string, string | undefined>>,
): string | null {
  switch (reference.kind) {
    case 'env':
      return null;
    case 'file':
      return reference.path;
    case 'credential': {
      const directory = env['CREDENTIALS_DIRECTORY'] ?? '';
      return directory === '' ? null : join(directory, reference.name);
    }
  }
}
