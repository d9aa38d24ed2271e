import type { FileEvent } from '../../domain/report.ts';
import type { Reporter } from '../pass/reporter.ts';

/** A reporter that tells, beside all else, of every change that a rescan finds: an event should have told of it before. */
export function countFinds(report: Reporter, found: (source: string) => void): Reporter {
  return {
    event: (event: FileEvent) => {
      const { kind, reason, source } = event;
      if (kind === 'remove' || (kind === 'upload' && (reason === 'new' || reason === 'changed')))
        found(source);
      report.event(event);
    },
    warn: (message) => {
      report.warn(message);
    },
    retrying: (path, reason, delayMs) => {
      report.retrying(path, reason, delayMs);
    },
    sent: (bytes) => {
      report.sent(bytes);
    },
  };
}
