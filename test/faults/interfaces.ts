import {
  fails,
  impossible,
  inBothModes,
  repeats,
  SUCCEEDS,
  told,
  unsure,
  untold,
  type Operations,
} from './cells.ts';
import type { CallCell, ToldCell, Words } from './expectation.ts';

/** What is expected of all operations but those on files. */
type Others = Pick<Operations, 'calls' | 'told'>;

/** The same of each of them. */
function alike(call: CallCell, tellings: Operations['told']['create-message']): Others {
  return {
    calls: {
      'list-bots': call,
      'get-integration': call,
      'create-conversation': call,
      'create-message': call,
    },
    told: {
      'get-integration': tellings,
      'create-conversation': tellings,
      'create-message': tellings,
    },
  };
}

/** The request is not taken as it is: once, and a failure. */
export function refuses(says: Words): Others {
  return alike(fails(3, says), untold(1, says));
}

/** The credentials are not taken: exit 4, and which of them to look at. */
export function denies(says: Words): Others {
  return alike(fails(4, says), untold(1, says));
}

/** This caller may not: exit 4; of a message the user may be no participant, which is no matter of credentials. */
export function forbids(says: Words): Others {
  const others = denies(says);
  return { ...others, calls: { ...others.calls, 'create-message': fails(3, says) } };
}

/** May work later: what only reads is tried again, what creates is not, since it may have been carried out. */
export function failsForNow(says: Words): Others {
  const [read, creation] = [repeats(says), unsure(says)];
  return {
    calls: {
      'list-bots': read,
      'get-integration': read,
      'create-conversation': creation,
      'create-message': creation,
    },
    told: {
      'get-integration': untold(2, says),
      'create-conversation': untold(1, says),
      'create-message': untold(1, says),
    },
  };
}

/** Certainly not carried out: all is retried, after the pause that was asked for. `inCommand`: what a command says of it. */
export function turnsAway(
  says: Words,
  waits: ToldCell['waits'] = 'no-time',
  inCommand: Words = says,
): Others {
  return alike(repeats(inCommand, waits), untold(2, says, waits));
}

/** Nothing is wrong with the answer. */
export function answers(): Others {
  return alike(SUCCEEDS, told());
}

/** There is no such fault of any of them. */
export function nowhere(why: string): Others {
  const none = impossible(why);
  const both = inBothModes(none);
  return {
    calls: {
      'list-bots': none,
      'get-integration': none,
      'create-conversation': none,
      'create-message': none,
    },
    told: { 'get-integration': both, 'create-conversation': both, 'create-message': both },
  };
}
