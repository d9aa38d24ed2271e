import { describeExpiryFault } from '../config/expiry-faults.ts';
import type { Obstacle, ReplacementSign, WaitCause } from '../domain/obstacle.ts';
import type { FileRecord } from '../domain/record.ts';

type Kind = Obstacle['kind'];

const SENTENCES: { readonly [K in Kind]: string | ((obstacle: Obstacle & { readonly kind: K }) => string) } =
  {
    'too-large': ({ sizeBytes, limitBytes }) =>
      `${count(sizeBytes)} bytes are more than limits.fileBytes (${count(limitBytes)})`,
    'too-large-to-index': ({ sizeBytes, limitBytes, isSkipped }) => {
      const reason = `too large to index: ${count(sizeBytes)} bytes are more than limits.indexBytes (${count(limitBytes)})`;
      const advice = '; set "whenTooLargeToIndex" in a rule: "upload-without-index" or "skip"';
      return isSkipped ? reason : `${reason}${advice}`;
    },
    'backslash-in-key': 'the key has a backslash, which the platform may refuse; rename the file',
    'tag-too-long': ({ tag, mostCharacters }) =>
      `the value of tag "${tag}" has more than ${count(mostCharacters)} characters`,
    'no-public-policy': 'publicContentImmediatelyAccessible needs "public_content" in accessPolicies',
    'lifetime-too-short': describeExpiryFault,
    'lifetime-too-long': describeExpiryFault,
    'expiry-past': describeExpiryFault,
    'expiry-too-far': describeExpiryFault,
    'request-too-large': ({ limitBytes }) =>
      `tags and metadata make the request larger than ${count(limitBytes)} bytes`,
    unreadable: ({ code }) => `cannot be read: ${code}`,
    unlistable: ({ code }) => `cannot be listed: ${code}`,
    'dangling-link': ({ code }) => `symbolic link leads nowhere: ${code}`,
    'name-not-utf8': 'the name is not valid UTF-8; rename it',
    'became-link': 'it was replaced by a symbolic link',
    'link-leads-out': 'a link leads out of the source',
    'not-regular': 'no longer a regular file',
    'key-taken': ({ source, path }) =>
      `has the same key as ${source}/${path}, which is sent; rename one of them`,
    replaced:
      'somebody else replaced it on the platform, and that file is left alone; change the file, or send it with --force',
    'replaced-before-removal': ({ isAsked, sign }) =>
      `${isAsked ? '' : 'deleted here, but '}left alone on the platform: somebody else replaced it (${describeSign(sign)})`,
    'unknown-owner': 'left alone on the platform, which does not say whose file it is',
    'not-removed': ({ message }) => `cannot be removed: ${message}`,
    waiting: ({ cause }) => `changed, and not sent yet: ${describeCause(cause)}`,
  };

/** Returns why a file is not in sync: a sentence without its full stop. */
export function describeObstacle(obstacle: Obstacle): string {
  const sentence = SENTENCES[obstacle.kind] as string | ((obstacle: Obstacle) => string);
  return typeof sentence === 'string' ? sentence : sentence(obstacle);
}

/** Returns the recorded failure of a file as a sentence without its full stop; `null`: none. */
export function describeFailure({ state, failure }: Pick<FileRecord, 'state' | 'failure'>): string | null {
  if (failure === null || state !== 'removing') return failure;
  return describeObstacle({ kind: 'not-removed', message: failure });
}

/** Returns the reason of a failure: a recorded text is shown as it is. */
export function describeReason(reason: string | Obstacle): string {
  return typeof reason === 'string' ? reason : describeObstacle(reason);
}

const FIX_OF_EXPIRY = 'correct expiresAt or expiresIn in the rule that sets it';

/** Ways to get a refused file accepted, where its sentence does not say so. */
const FIXES: { readonly [K in Kind]?: (obstacle: Obstacle & { readonly kind: K }) => string | null } = {
  'too-large': ({ sizeBytes }) =>
    `raise limits.fileBytes to ${sizeBytes} or more, split the file, or ignore it`,
  'too-large-to-index': ({ isSkipped }) =>
    isSkipped ? 'make it smaller, or set "whenTooLargeToIndex": "upload-without-index" in a rule' : null,
  'tag-too-long': ({ tag }) => `shorten the tag "${tag}" in the rule that sets it`,
  'request-too-large': () => 'remove tags or metadata from the rules that match it',
  'no-public-policy': () =>
    'add "accessPolicies": ["public_content"] to the rule, or remove publicContentImmediatelyAccessible',
  'expiry-past': () => FIX_OF_EXPIRY,
  'expiry-too-far': () => FIX_OF_EXPIRY,
  'lifetime-too-short': () => FIX_OF_EXPIRY,
  'lifetime-too-long': () => FIX_OF_EXPIRY,
};

/** Returns how to get a refused file accepted; `null` if its sentence says so, or if nothing is known to help. */
export function describeFix(obstacle: Obstacle): string | null {
  const fix = FIXES[obstacle.kind] as ((obstacle: Obstacle) => string | null) | undefined;
  return fix?.(obstacle) ?? null;
}

/** The way to get a file accepted that the platform refused. */
export const FIX_OF_REFUSED =
  'change the file or its rules; to try it unchanged: botsync sync --once --force PATTERN';

function describeSign(sign: ReplacementSign): string {
  switch (sign.kind) {
    case 'other-key':
      return 'it has another key';
    case 'other-id':
      return 'it has another id';
    case 'no-mark':
      return 'it has no mark';
    case 'mark-of-other-content':
      return 'its mark names another content';
    case 'mark-of-other-source':
      return 'its mark names another source';
    case 'other-size':
      return `it has ${sign.foundBytes} bytes instead of ${sign.sentBytes}`;
  }
}

function describeCause(cause: WaitCause): string {
  switch (cause.kind) {
    case 'platform':
      return cause.message;
    case 'stopped':
      return 'it was stopped';
    case 'paused':
      return 'botsync is paused';
    case 'not-accepting':
      return 'the platform does not accept it now';
  }
}

function count(value: number): string {
  return value.toLocaleString('en');
}
