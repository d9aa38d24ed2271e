import { arrives, fails, repeats, retried, row, told, untold } from './cells.ts';
import type { FileCell, Row } from './expectation.ts';
import type { PATIENCE_FAULTS } from './faults.ts';
import { answers, failsForNow, turnsAway } from './interfaces.ts';

const LIMITED = '429 RateLimited';

/** Turned away with a wait that is kept, by everybody, and then tried again. */
const limited = (): Row =>
  row({
    upsert: retried(LIMITED, { waits: '20s' }),
    upload: retried(`the upload address answered ${LIMITED}`, { waits: '20s' }),
    ...turnsAway(LIMITED, '20s'),
  });

/** Taken, and then nothing until the window is over. The store's headers are none of the platform's. */
const spent = (): Row => {
  const { calls } = answers();
  return row({
    upsert: arrives({ waits: '20s' }),
    upload: arrives(),
    calls,
    told: {
      'get-integration': told('20s'),
      'create-conversation': told('20s'),
      // Nothing follows it.
      'create-message': told(),
    },
  });
};

/** A wait that is longer than anybody waits in one run: nothing is asked until it is over, and the daemon goes on then. */
function putOff(says: string) {
  const { once, daemon } = retried(says, { tries: 1, pauses: 'all' });
  return { once, daemon: { ...daemon, mended: 'in-1h' } satisfies FileCell };
}

function untoldForAnHour() {
  const { once, daemon } = untold(1, LIMITED);
  return { once, daemon: { ...daemon, mended: 'in-1h' as const } };
}

const UNAVAILABLE = '503 Unavailable';

/** What comes of it when a platform asks for patience, in all the ways there are (platform-facts.md, Rate limits). */
export const PATIENCE_TABLE: Readonly<Record<keyof typeof PATIENCE_FAULTS, Row>> = {
  '429 with Retry-After in seconds': limited(),
  '429 with Retry-After as a date': limited(),
  '429 with RateLimit-Reset': limited(),
  '429 with X-RateLimit-Reset': limited(),
  '429 with Retry-After of an hour': row({
    upsert: putOff(LIMITED),
    upload: putOff(`the upload address answered ${LIMITED}`),
    calls: {
      'list-bots': fails(3, LIMITED),
      'get-integration': fails(3, LIMITED),
      'create-conversation': fails(3, LIMITED),
      'create-message': fails(3, LIMITED),
    },
    told: {
      'get-integration': untoldForAnHour(),
      'create-conversation': untoldForAnHour(),
      'create-message': untoldForAnHour(),
    },
  }),
  '503 with Retry-After': row({
    upsert: retried(UNAVAILABLE, { waits: '20s' }),
    upload: retried(`the upload address answered ${UNAVAILABLE}`, { waits: '20s' }),
    calls: {
      ...failsForNow(UNAVAILABLE).calls,
      'list-bots': repeats(UNAVAILABLE, '20s'),
      'get-integration': repeats(UNAVAILABLE, '20s'),
    },
    told: { ...failsForNow(UNAVAILABLE).told, 'get-integration': untold(2, UNAVAILABLE, '20s') },
  }),
  'a success with RateLimit-Remaining 0': spent(),
  'a success with X-RateLimit-Remaining 0': spent(),
};
