import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { buildConfig } from './build-config.ts';
import type { Config } from './config.ts';
import { crossCheck } from './cross-checks.ts';
import { describeIssue } from './describe-issue.ts';
import { parseDocument } from './document.ts';
import { configJsonSchema } from './json-schema.ts';
import {
  formatField,
  type ConfigProblem,
  type FieldPath,
  type Finding,
  type Position,
  formatMode,
  quoteForShell,
} from './problem.ts';
import { otherFormat, describeAbsence, describeDirectory } from './find-config.ts';
import { configSchema } from './schema.ts';

/** A valid configuration. */
export interface LoadedConfig {
  readonly kind: 'ok';
  /** The path as given; `config.file` is absolute. */
  readonly file: string;
  readonly config: Config;
  readonly warnings: readonly ConfigProblem[];
  /** Returns the position of a field; of an absent field, that of the innermost object that should contain it. */
  locate: (path: FieldPath) => Position;
}

/** A configuration, or its problems in the order of the file. */
export type ConfigResult =
  LoadedConfig | { readonly kind: 'invalid'; readonly problems: readonly ConfigProblem[] };

/** A file with more problems is probably not a configuration, and finding the position of each takes time. */
const MOST_TOLD = 1_000;

/**
 * In characters. Some hundreds of rules take a tenth of this; describing the problems of a longer text would take
 * minutes.
 */
const LONGEST_CONFIG = 500_000;

/** Reads and checks a configuration file. Paths in it start at its directory. Never throws. */
export function loadConfig(file: string): ConfigResult {
  const read = readText(file);
  if (read.kind === 'problem') return invalid([{ file, position: null, field: '', message: read.message }]);
  const result = parseConfig(read.text, file);
  if (result.kind === 'invalid' || (read.mode & 0o022) === 0) return result;
  const message = `others can write to this file (mode ${formatMode(read.mode)}) and so decide what is sent where; run: chmod go-w ${quoteForShell(file)}`;
  return { ...result, warnings: [{ file, position: null, field: '', message }, ...result.warnings] };
}

/**
 * Checks the text of a configuration; `file` is its path, absolute or relative to the working directory. `machine`: the
 * host name of this machine, for a `cluster` without `host`. Never throws.
 */
export function parseConfig(text: string, file: string, machine = hostname()): ConfigResult {
  if (text.length > LONGEST_CONFIG) {
    const message = `has more than ${LONGEST_CONFIG.toLocaleString('en')} characters, too many for a configuration; name another file`;
    return invalid([{ file, position: null, field: '', message }]);
  }
  const parsed = parseDocument(text);
  if (parsed.kind === 'syntax-error') {
    const message = describeOtherFormat(file) ?? parsed.message;
    return invalid([{ file, position: parsed.position, field: '', message }]);
  }
  const { document } = parsed;
  const path = resolve(file);
  const checked = configSchema.safeParse(document.value);
  const findings = document.findings.concat(crossCheck(document.value, path, machine));
  if (!checked.success) {
    const root = configJsonSchema();
    const known = new Set(document.findings.map((finding) => formatField(finding.path)));
    const described = checked.error.issues.flatMap((issue) => describeIssue(issue, document.value, root));
    for (const finding of described) if (!known.has(formatField(finding.path))) findings.push(finding);
  }
  const place = ({ path: field, message, about, offset }: Finding): ConfigProblem => ({
    file,
    position: document.positionOf(offset ?? document.offsetOf(field, about)),
    field: formatField(field),
    message,
  });
  const placed = (severity: Finding['severity']): ConfigProblem[] =>
    findings
      .filter((finding) => finding.severity === severity)
      .slice(0, MOST_TOLD)
      .map(place)
      .sort(byPosition);
  const problems = placed('error');
  if (!checked.success || problems.length > 0) return invalid(problems);
  return {
    kind: 'ok',
    file,
    config: buildConfig(checked.data, path, machine),
    warnings: placed('warning'),
    locate: (field) => document.positionOf(document.offsetOf(field, 'value')),
  };
}

/** The message for a file that cannot be parsed and has the extension of another format; `null` if it does not. */
function describeOtherFormat(file: string): string | null {
  const extension = otherFormat(file);
  return extension === null
    ? null
    : `is not JSON, and botsync does not read ${extension}; write the configuration as JSON, which may have comments (botsync init writes one)`;
}

function readText(
  file: string,
): { kind: 'text'; text: string; mode: number } | { kind: 'problem'; message: string } {
  let bytes: Buffer;
  let mode: number;
  try {
    // Opening a pipe without a writer would block.
    const handle = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(handle);
      if (stats.isDirectory()) return { kind: 'problem', message: describeDirectory(file) };
      if (!stats.isFile())
        return { kind: 'problem', message: 'is not a regular file; write the configuration to one' };
      mode = stats.mode;
      bytes = readFileSync(handle);
    } finally {
      closeSync(handle);
    }
  } catch (cause) {
    return { kind: 'problem', message: describeReadError(cause, file) };
  }
  if (
    bytes.subarray(0, 2).equals(Buffer.of(0xff, 0xfe)) ||
    bytes.subarray(0, 2).equals(Buffer.of(0xfe, 0xff))
  ) {
    return { kind: 'problem', message: 'is UTF-16; save it as UTF-8' };
  }
  try {
    // The decoder skips a byte order mark.
    return { kind: 'text', text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), mode };
  } catch {
    return { kind: 'problem', message: 'is not UTF-8; save it as UTF-8' };
  }
}

function describeReadError(cause: unknown, file: string): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (code === 'ENOENT' || code === 'ENOTDIR') return describeAbsence(file);
  if (code === 'EACCES' || code === 'EPERM') return 'cannot be read by this user; check its permissions';
  return `cannot be read${code === '' ? '' : ` (${code})`}`;
}

function invalid(problems: readonly ConfigProblem[]): ConfigResult {
  return { kind: 'invalid', problems };
}

function byPosition({ position: a }: ConfigProblem, { position: b }: ConfigProblem): number {
  return a === null || b === null ? 0 : a.line - b.line || a.column - b.column;
}
