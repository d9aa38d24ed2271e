import { fstatSync } from 'node:fs';
import { createLog, type LogSettings, type StyledLog } from '../service/logger.ts';
import { servesStandardError, type StandardErrorFacts } from '../service/service-manager.ts';
import type { GlobalOptions } from './global-options.ts';
import { writeError } from './render/output.ts';
import { paintFor } from './render/paint.ts';

type LogOptions = Pick<GlobalOptions, 'logLevel' | 'logFormat'>;

/** Who reads the log: a person at a terminal, a service manager, or whoever reads the pipe or file that it goes to. */
export type LogReader = 'terminal' | 'service-manager' | 'pipe';

/** Who reads what this process writes to standard error. */
export function logReader(): LogReader {
  if (process.stderr.isTTY) return 'terminal';
  const facts: StandardErrorFacts = { env: process.env, pid: process.pid, stat: statOfStandardError() };
  return servesStandardError(facts) ? 'service-manager' : 'pipe';
}

/**
 * How a command logs, unless the options say otherwise: for a service manager as JSON, else readable; on a terminal little,
 * as the command itself shows what it does.
 */
export function logSettings({ logLevel, logFormat }: LogOptions, reader: LogReader): LogSettings {
  const format = logFormat === 'auto' ? (reader === 'service-manager' ? 'json' : 'pretty') : logFormat;
  return {
    level: logLevel ?? (reader === 'terminal' && format === 'pretty' ? 'warn' : 'info'),
    format,
    // Who starts a command and waits for its end knows when that was.
    isTimed: false,
    paint: paintFor(2),
  };
}

/** The log of a command that shows no progress. */
export function createCommandLog(options: LogOptions): StyledLog {
  return createLog(logSettings(options, logReader()), writeError);
}

function statOfStandardError(): StandardErrorFacts['stat'] {
  try {
    const { dev, ino } = fstatSync(2, { bigint: true });
    return { dev, ino };
  } catch {
    // Closed: nobody reads it.
    return null;
  }
}
