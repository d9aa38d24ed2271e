import type { Log } from '../../../service/logger.ts';
import type { SitePorts } from '../../../service/page-site.ts';
import { approvalWords, rescanWords } from '../../../words/asked.ts';
import type { DaemonState } from '../daemon-state.ts';
import { approveAnywhere, rescanAnywhere } from '../ask-hosts.ts';

export type Controlled = Pick<DaemonState, 'daemon' | 'cluster' | 'loaded' | 'trouble'>;

/** Creates the actions that people who signed in on the page may run on a daemon, and their log. */
export function pageControl(controlled: () => Controlled, log: Log): SitePorts {
  return {
    act: async (action) => {
      const state = controlled();
      const nothing = `Nothing was done: ${state.trouble ?? 'botsync is starting'}.`;
      if (state.daemon === null) return nothing;
      const rescan = async (source: string | null, path: string | null): Promise<string> => {
        const asked = await rescanAnywhere(state, source, path);
        return asked === null ? nothing : rescanWords(asked, source, path);
      };
      switch (action.kind) {
        case 'approve':
          return approvalWords(await approveAnywhere(state, action.source, action.halt)).join(' ');
        case 'rescan':
          return await rescan(action.source, null);
        case 'retry':
          return await rescan(action.source, action.path);
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
