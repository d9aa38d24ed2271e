import { createLog, type Log, type LogSettings } from '../service/logger.ts';
import type { GlobalOptions } from './global-options.ts';
import { writeLog } from './render/output.ts';

/** How a command logs: on a terminal little and readable, else everything as JSON, unless the options say otherwise. */
export function logSettings(
  { logLevel, logFormat }: Pick<GlobalOptions, 'logLevel' | 'logFormat'>,
  isTerminal: boolean,
): LogSettings {
  return {
    level: logLevel ?? (isTerminal && logFormat !== 'json' ? 'warn' : 'info'),
    format: logFormat === 'auto' ? (isTerminal ? 'pretty' : 'json') : logFormat,
  };
}

/** The log of a command that shows no progress. */
export function createCommandLog(options: Pick<GlobalOptions, 'logLevel' | 'logFormat'>): Log {
  return createLog(logSettings(options, process.stderr.isTTY), writeLog);
}
