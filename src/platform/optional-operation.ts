import type { LookupFailure, OptionalFailure } from '../domain/failure.ts';
import { errorTypeOf, type Answer } from './failures.ts';

const UNKNOWN_OPERATION = new Set([404, 405, 501]);

/**
 * What a failure of an operation means that a platform need not serve (docs/PLATFORM.md, Beyond the five operations): one
 * that it does not have answers 404, 405 or 501 without saying that the file is missing, and one that it does not
 * allow this token 403. A sync leaves it to the upserts to decide that credentials are refused.
 */
export function failureOfOptional(answer: Answer, failure: LookupFailure): OptionalFailure {
  if (UNKNOWN_OPERATION.has(answer.status) && errorTypeOf(answer.text) !== 'ResourceNotFound') {
    // Status and type as the failure has them: without the secret, which a platform may repeat in either.
    const [said = ''] = failure.message.split(':');
    return { kind: 'not-served', message: `the platform does not serve this operation (${said})` };
  }
  // A token that is refused is refused for everything: that says nothing of this operation.
  if (failure.kind !== 'credentials' || failure.scope === 'all') return failure;
  const message = `the token of platform.token may not do this: ${failure.message}`;
  return { kind: 'not-served', message, isByToken: true };
}
