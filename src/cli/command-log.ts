import { fstatSync } from 'node:fs';
import { createLog, type LogSettings, type StyledLog } from '../service/logger.ts';
import { servesStandardError, type StandardErrorFacts } from '../service/systemd-notify.ts';
import type { GlobalOptions } from './global-options.ts';
import { writeError, paintFor } from './render/output.ts';

type LogOptions = Pick<GlobalOptions, 'logLevel' | 'logFormat'>;

/** The reader of standard error; `pipe` includes files. */
export type LogReader = 'terminal' | 'service-manager' | 'pipe';

export function logReader(): LogReader {
  if (process.stderr.isTTY) return 'terminal';
  const facts: StandardErrorFacts = { env: process.env, pid: process.pid, stat: statOfStandardError() };
  return servesStandardError(facts) ? 'service-manager' : 'pipe';
}

/**
 * Returns the log settings: JSON for a service manager, else text; on a terminal only warnings, since the command
 * shows its progress. Options override this.
 */
export function logSettings({ logLevel, logFormat }: LogOptions, reader: LogReader): LogSettings {
  const format = logFormat === 'auto' ? (reader === 'service-manager' ? 'json' : 'pretty') : logFormat;
  return {
    level: logLevel ?? (reader === 'terminal' && format === 'pretty' ? 'warn' : 'info'),
    format,
    // The user who waits for a command knows the time.
    isTimed: false,
    paint: paintFor(2),
  };
}

export function createCommandLog(options: LogOptions): StyledLog {
  return createLog(logSettings(options, logReader()), writeError);
}

function statOfStandardError(): StandardErrorFacts['stat'] {
  try {
    const { dev, ino } = fstatSync(2, { bigint: true });
    return { dev, ino };
  } catch {
    // Standard error is closed.
    return null;
  }
}
