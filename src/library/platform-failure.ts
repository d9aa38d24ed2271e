import type { OptionalFailure } from '../domain/failure.ts';
import { escapeControls } from '../domain/escape.ts';
import { SyncError } from './sync-error.ts';

/**
 * The error that ends a command whose request failed: `credentials`, else `platform`.
 *
 * @param what - what could not be done, such as "the bots could not be listed".
 * @param effect - `reads`: nothing can have happened; `creates`: a request whose answer got lost may have been carried out.
 */
export function platformError(
  what: string,
  failure: OptionalFailure,
  effect: 'reads' | 'creates',
): SyncError {
  const code = failure.kind === 'credentials' ? 'credentials' : 'platform';
  const isUncertain = effect === 'creates' && failure.kind === 'transient' && failure.notCarriedOut !== true;
  const fix = isUncertain ? 'It may have been carried out; check before you retry.' : null;
  const reason = `${what}: ${escapeControls(failure.message)}`;
  const lines = [reason, fix, nextStep(failure)].filter((line) => line !== null);
  return new SyncError(code, { reason, fix: fix ?? nextStep(failure), message: lines.join('\n') });
}

/** What to do about a failure that the message does not explain by itself. */
function nextStep(failure: OptionalFailure): string | null {
  // Their messages name the fields.
  if (failure.kind === 'credentials') return 'Try: botsync doctor';
  if (failure.kind !== 'transient' || failure.notCarriedOut !== true || failure.answered === true)
    return null;
  return `${adviceFor(failure.message)} Try: botsync doctor`;
}

/** What to look at when no connection was made. */
function adviceFor(message: string): string {
  if (message.includes('certificate is not trusted'))
    return 'If it is from an authority of your own, name that in NODE_EXTRA_CA_CERTS.';
  return IS_LOCAL.test(message) ? 'Is it running?' : 'Check the address and the network.';
}

/** An address of this machine. */
const IS_LOCAL = /^cannot reach https?:\/\/(?:localhost|127\.|\[::1\])/u;
