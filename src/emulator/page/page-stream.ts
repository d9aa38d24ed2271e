import { withoutRelativeText } from '../../web/relative-time.ts';
import type { FollowEvents } from '../answer.ts';
import type { Platform } from '../platform.ts';
import { gatherView } from './gather-view.ts';
import { renderParts } from './render-page.ts';

/** How often a page that is looked at may change, milliseconds. */
const LOOK_MS = 500;
/** So many looks pass until one without any request: what the clock alone changes, and what tests set. */
const LOOKS_WITHOUT_REQUESTS = 4;
/** So many looks pass until the next time signal. */
const LOOKS_A_CLOCK = 40;

/** Sends the parts of the page of an address, and from then on those that changed, by real timers. */
export function followParts(query: URLSearchParams, platform: Platform): FollowEvents {
  return (send, isReady) => {
    const sent = new Map<string, string>();
    let version = NaN;
    let looks = 0;
    const look = (): void => {
      if (looks % LOOKS_A_CLOCK === 0) send('clock', String(platform.now()));
      const isDue = looks % LOOKS_WITHOUT_REQUESTS === 0 || platform.log.version !== version;
      looks += 1;
      if (!isDue || !isReady()) return;
      ({ version } = platform.log);
      const parts: Record<string, string> = {};
      for (const [id, { markup }] of renderParts(gatherView(query, platform))) {
        const standing = withoutRelativeText(markup);
        if (sent.get(id) === standing) continue;
        sent.set(id, standing);
        parts[id] = markup;
      }
      if (Object.keys(parts).length > 0) send('parts', JSON.stringify(parts));
    };
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(timer);
    };
  };
}
