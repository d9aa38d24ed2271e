import { arrives, believed, impossible, inBothModes, outage, retried, row } from './cells.ts';
import type { Row, Words } from './expectation.ts';
import type { WIRE_FAULTS } from './faults.ts';
import { answers, failsForNow, nowhere, turnsAway } from './interfaces.ts';

const NO_ANSWER = 'no answer within upload.stallTimeout';
const STANDS_STILL = 'no progress of the answer within upload.stallTimeout';
const NO_SENSE = '200 with an unexpected answer';
const LOST = 'connection lost';
const REFUSED = 'connection refused \\(ECONNREFUSED\\)';
const UNTRUSTED = 'its certificate is not trusted \\(UNABLE_TO_VERIFY_LEAF_SIGNATURE\\)';
const IS_IT_RUNNING = 'Is it running\\? Try: botsync doctor';
const TRUST_IT =
  'If it is from an authority of your own, name that in NODE_EXTRA_CA_CERTS\\. Try: botsync doctor';

/** It may have been carried out, and nobody knows: tried again where that does no harm. */
const uncertain = (says: Words): Row =>
  row({ upsert: retried(says), upload: retried(says), ...failsForNow(says) });

/** The same, where the store has all of the content by then. */
const uncertainAfterwards = (says: Words): Row =>
  row({ upsert: retried(says), upload: retried(says, { platformHas: 'it' }), ...failsForNow(says) });

const harmless = (): Row => row({ upsert: arrives(), upload: arrives(), ...answers() });

/** An expiry by our clock is refused once; the answer tells the platform's time. */
const skewed = (): Row => row({ upsert: arrives({ tries: 2 }), upload: arrives(), ...answers() });

/** Files of all bots are struck at once where the platform is not reached; from the store only one is. */
const unreached = (why: string, hint: string): Row => {
  const says = new RegExp(`^[^\\n]*\\bcannot reach [^\\n]*: ${why}$`, 'u');
  const inCommand = new RegExp(`^[^\\n]*: cannot reach [^\\n]*: ${why}\\n${hint}$`, 'u');
  return row({ upsert: outage(says), upload: retried(says), ...turnsAway(says, 'no-time', inCommand) });
};

/** A store's success has no content to make sense of. */
const senseless = (): Row => row({ upsert: retried(NO_SENSE), upload: believed(), ...failsForNow(NO_SENSE) });

/** What comes of broken connections, wrong clocks and answers that make no sense. */
export const WIRE_TABLE: Readonly<Record<keyof typeof WIRE_FAULTS, Row>> = {
  'no answer': uncertain(NO_ANSWER),
  'half an answer': uncertainAfterwards(STANDS_STILL),
  'an answer byte by byte, without end': uncertainAfterwards(STANDS_STILL),
  'an answer in slow pieces': harmless(),
  'a late answer': harmless(),
  'dropped at once': uncertain(LOST),
  'cut within the request': uncertain(LOST),
  'cut within the answer': uncertainAfterwards(LOST),
  'answered before it was read, then dropped': row({
    upsert: retried(NO_SENSE),
    // Whichever is noticed first.
    upload: retried(/connection lost|the store answered before it had every byte/u),
    ...failsForNow(NO_SENSE),
  }),
  'carried out, then dropped': uncertainAfterwards(LOST),
  '200 with garbage': senseless(),
  '200 with an empty object': senseless(),
  '200 without uploadUrl': row({
    upsert: retried(NO_SENSE),
    upload: inBothModes(impossible('without an address nothing is uploaded')),
    ...nowhere('only an upsert is answered with an uploadUrl'),
  }),
  'nobody listens': unreached(REFUSED, IS_IT_RUNNING),
  'an unknown certificate authority': unreached(UNTRUSTED, TRUST_IT),
  'a redirect to elsewhere': uncertain(
    /307: redirected to http:\/\/127\.0\.0\.1:\d+, which is not followed/u,
  ),
  'an expired signature': row({
    upsert: inBothModes(impossible('an upsert is not signed: its answer names the address that is')),
    upload: retried('the upload address answered 403 AccessDenied'),
    ...nowhere('only upload addresses are signed'),
  }),
  "the platform's clock a day ahead": skewed(),
  "the platform's clock a day behind": skewed(),
};
