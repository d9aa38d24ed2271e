import { EXIT } from '../domain/exit-code.ts';
import type { OptionalFailure } from '../domain/failure.ts';
import { shown } from '../cli/render/output.ts';
import { UsageError } from './usage-error.ts';

/**
 * The error that ends a command whose request failed: exit 4 for credentials, else 3.
 *
 * @param what - what could not be done, such as "the bots could not be listed".
 * @param effect - `reads`: nothing can have happened; `creates`: a request whose answer got lost may have been carried out.
 */
export function platformError(
  what: string,
  failure: OptionalFailure,
  effect: 'reads' | 'creates',
): UsageError {
  const exitCode = failure.kind === 'credentials' ? EXIT.credentials : EXIT.incomplete;
  const isUncertain = effect === 'creates' && failure.kind === 'transient' && failure.notCarriedOut !== true;
  const hint = isUncertain ? '\nIt may have been carried out all the same; look before you try again.' : '';
  return new UsageError(`${what}: ${shown(failure.message)}${hint}`, exitCode);
}
