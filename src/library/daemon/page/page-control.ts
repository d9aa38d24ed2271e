import type { Log } from '../../../service/logger.ts';
import type { SitePorts } from '../../../service/page-site.ts';
import type { DaemonView } from '../daemons.ts';
import { approvalWords, rescanWords } from '../../../words/asked.ts';

/** A daemon that may be told what to do. */
export interface Controlled {
  /** `null` while there is none. */
  readonly daemon: Pick<DaemonView, 'approve' | 'rescan'> | null;
  /** Why the state file cannot be used, while it cannot. */
  readonly trouble: string | null;
}

/** What people who signed in on the page may do with a daemon, and where it is noted. */
export function pageControl(controlled: () => Controlled, log: Log): SitePorts {
  return {
    act: (action) => {
      const { daemon, trouble } = controlled();
      if (daemon === null) return `Nothing was done: ${trouble ?? 'botsync is starting'}.`;
      switch (action.kind) {
        case 'approve':
          return approvalWords(daemon.approve(action.source)).join(' ');
        case 'rescan':
          return rescanWords(daemon.rescan(action.source, null), action.source, null);
        case 'retry':
          return rescanWords(daemon.rescan(action.source, action.path), action.source, action.path);
      }
    },
    note: (level, message, fields) => {
      log[level](message, fields);
    },
    failed: (error) => {
      log.error('the page could not be made', { reason: (error as Error).message });
    },
  };
}
