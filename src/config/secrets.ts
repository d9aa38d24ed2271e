import { constants, closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config, SecretReference } from './config.ts';
import { formatMode, quoteForShell } from './problem.ts';
import { isPlaceholder } from './values.ts';

/** A secret, or why it is missing and what to do. Messages name the place, never the secret. */
export type SecretResult =
  | { readonly kind: 'ok'; readonly value: string; readonly warnings: readonly string[] }
  | { readonly kind: 'problem'; readonly message: string };

/** Larger than any token: a file of this size is the wrong file. */
const LARGEST_SECRET_BYTES = 65_536;

/** Reads a secret from where it is stored. `env` is the environment of the process. Never throws. */
export function resolveSecret(
  reference: SecretReference,
  env: Readonly<Record<string, string | undefined>>,
): SecretResult {
  switch (reference.kind) {
    case 'env': {
      const { name } = reference;
      const value = env[name] ?? '';
      const place = `the environment variable ${name}`;
      if (value !== '') return checkSecret(value, place, []);
      const state = env[name] === undefined ? 'is not set' : 'is empty';
      return refuse(
        `${place} ${state}; set it before botsync starts: export ${name}=… (with systemd in an EnvironmentFile=)`,
      );
    }
    case 'file':
      return readSecretFile(reference.path, 'write the secret into it, or name another file', true);
    case 'credential': {
      const { name } = reference;
      const path = pathOf(reference, env);
      const fix = `the unit needs LoadCredential=${name}:PATH`;
      if (path === null) {
        return refuse(
          `credential ${name}: $CREDENTIALS_DIRECTORY is not set; ${fix}, and outside systemd write "env:" or "file:"`,
        );
      }
      // systemd protects these files itself.
      return readSecretFile(path, fix, false);
    }
  }
}

function readSecretFile(path: string, fix: string, isOurs: boolean): SecretResult {
  let text: string;
  let mode: number;
  try {
    // Opening a FIFO without a writer would block.
    const handle = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(handle);
      if (stats.isDirectory())
        return refuse(`${path} is a directory; name the file that contains the secret`);
      if (!stats.isFile())
        return refuse(`${path} is not a regular file; name the file that contains the secret`);
      if (stats.size > LARGEST_SECRET_BYTES)
        return refuse(`${path} is too large for a secret; name the file that contains it`);
      mode = stats.mode;
      text = readFileSync(handle, 'utf8');
    } finally {
      closeSync(handle);
    }
  } catch (cause) {
    return refuse(`${path} ${describeReadError(cause)}; ${fix}`);
  }
  const isOpen = isOurs && (mode & 0o066) !== 0;
  const warnings = isOpen
    ? [
        `others can ${(mode & 0o044) === 0 ? 'write to' : 'read'} ${path} (mode ${formatMode(mode)}); run: chmod 600 ${quoteForShell(path)}`,
      ]
    : [];
  return checkSecret(text, path, warnings);
}

function describeReadError(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
  if (code === 'ENOENT' || code === 'ENOTDIR') return 'does not exist';
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read by this user';
  return `cannot be read (${code})`;
}

/** Accepts printable ASCII without spaces: anything else would break a header, or be refused by the platform. */
function checkSecret(text: string, place: string, warnings: readonly string[]): SecretResult {
  const value = text.replace(/[\r\n]+$/u, '');
  if (value === '') return refuse(`${place} is empty; it must contain the secret`);
  if (isPlaceholder(value)) return refuse(`${place} still contains a placeholder; replace it by the secret`);
  if (/^[\x21-\x7e]+$/u.test(value)) return { kind: 'ok', value, warnings };
  return refuse(
    /^bearer\s/iu.test(value)
      ? `${place} begins with "Bearer"; it must contain only the token`
      : `${place} contains a space, a line break or a character that secrets do not have; it must contain only the secret, on one line`,
  );
}

function refuse(message: string): SecretResult {
  return { kind: 'problem', message };
}

export interface SecretFile {
  /** The field of the config that names the file. */
  readonly field: string;
  /** An absolute path, which may not exist. */
  readonly path: string;
}

/**
 * Returns the files of the secrets that a running daemon reads again, including those that systemd provides; without
 * that of the cluster's database, which is read only at the start. `env`: the environment of the process.
 */
export function secretFiles(
  config: SecretBlocks,
  env: Readonly<Record<string, string | undefined>>,
): SecretFile[] {
  return secretReferences(config).flatMap(({ field, reference }) => {
    const path = pathOf(reference, env);
    return path === null ? [] : [{ field, path }];
  });
}

type SecretBlocks = Pick<Config, 'platform' | 'sources' | 'service' | 'notify'>;

/** Returns the references to secrets with their fields, without that of the cluster's database. */
export function secretReferences({
  platform: { token, chat },
  sources,
  service: { control },
  notify,
}: SecretBlocks): { readonly field: string; readonly reference: SecretReference }[] {
  const named: [string, SecretReference | null][] = [
    ['platform.token', token],
    ['platform.chat.userKey', chat?.userKey ?? null],
    ...sources.map((source, position): [string, SecretReference | null] => [
      `sources[${position}].token`,
      source.token,
    ]),
    ['service.control', control],
    ['notify.webhook', notify?.place.kind === 'webhook' ? notify.place.url : null],
  ];
  return named.flatMap(([field, reference]) => (reference === null ? [] : [{ field, reference }]));
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
