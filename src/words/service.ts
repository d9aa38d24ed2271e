import { escapeControls } from '../domain/escape.ts';
import type { ServiceState } from '../domain/status.ts';
import { describeSpan } from './quantity.ts';

/**
 * Reports that no service runs, or that it does not answer, and what is shown instead; `null`: it runs, or there is none.
 *
 * @param hasLedger - the records are those of a cluster, which other hosts keep up to date.
 */
export function describeNoService(service: ServiceState, nowMs: number, hasLedger: boolean): string | null {
  switch (service.kind) {
    case 'stopped': {
      const { lastAlive } = service;
      const seen = `last seen alive ${describeSpan(nowMs - Date.parse(lastAlive))} ago (${lastAlive})`;
      return hasLedger
        ? `NO SERVICE RUNNING on this host, ${seen}; this is what the ledger says`
        : `NO SERVICE RUNNING, ${seen}; this is as of then`;
    }
    case 'silent':
      return `THE SERVICE DOES NOT ANSWER (${escapeControls(service.reason)}); this is what its records say`;
    case 'running':
    case 'starting':
    case 'none':
      return null;
  }
}

export function describeBrokenConfiguration(problem: string, loadedAt: string): string {
  return `the configuration on disk cannot be loaded: ${escapeControls(problem)}; the one of ${loadedAt} is in use`;
}
