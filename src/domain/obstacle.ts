import * as z from 'zod';

/** Why an `expiresAt` cannot be sent; `expiresAt` is ISO 8601. The sentences are in `src/config/expiry-faults.ts`. */
const expiryFault = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['lifetime-too-short', 'lifetime-too-long']) }),
  z.object({ kind: z.enum(['expiry-past', 'expiry-too-far']), expiresAt: z.string() }),
]);

export type ExpiryFault = z.infer<typeof expiryFault>;

/** Why a file is refused before it is sent: by the limits of the configuration, or by the platform's stated rules. */
const refusal = z.discriminatedUnion('kind', [
  /** `limits.fileBytes` and `limits.indexBytes`. */
  z.object({ kind: z.literal('too-large'), sizeBytes: z.number(), limitBytes: z.number() }),
  z.object({
    kind: z.literal('too-large-to-index'),
    sizeBytes: z.number(),
    limitBytes: z.number(),
    /** By the rules, the file is passed over, and not a failure. */
    isSkipped: z.boolean(),
  }),
  z.object({ kind: z.literal('backslash-in-key') }),
  z.object({ kind: z.literal('tag-too-long'), tag: z.string(), mostCharacters: z.int() }),
  z.object({ kind: z.literal('no-public-policy') }),
  ...expiryFault.options,
  z.object({ kind: z.literal('request-too-large'), limitBytes: z.int() }),
]);

export type FileRefusal = z.infer<typeof refusal>;

/** Why a path of a source cannot be read as a file. `code`: of the system's error. */
const pathFault = z.discriminatedUnion('kind', [
  z.object({ kind: z.enum(['unreadable', 'unlistable', 'dangling-link']), code: z.string() }),
  z.object({ kind: z.enum(['name-not-utf8', 'became-link', 'link-leads-out', 'not-regular']) }),
]);

export type PathFault = z.infer<typeof pathFault>;

/** The sign that the platform's file under a key is not the one that botsync sent. Sizes in bytes. */
const replacementSign = z.discriminatedUnion('kind', [
  z.object({
    kind: z.enum(['other-key', 'other-id', 'no-mark', 'mark-of-other-content', 'mark-of-other-source']),
  }),
  z.object({ kind: z.literal('other-size'), foundBytes: z.number(), sentBytes: z.number() }),
]);

export type ReplacementSign = z.infer<typeof replacementSign>;

/** Why a changed file waits. `message`: the platform's. */
const waitCause = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('platform'), message: z.string() }),
  z.object({ kind: z.enum(['stopped', 'paused', 'not-accepting']) }),
]);

export type WaitCause = z.infer<typeof waitCause>;

export const obstacleSchema = z.discriminatedUnion('kind', [
  ...refusal.options,
  ...pathFault.options,
  /** An earlier file has the same key. */
  z.object({ kind: z.literal('key-taken'), source: z.string(), path: z.string() }),
  /** Somebody else's file is under its key: found by a comparison, or before a removal that was due or `isAsked` for. */
  z.object({ kind: z.literal('replaced') }),
  z.object({ kind: z.literal('replaced-before-removal'), isAsked: z.boolean(), sign: replacementSign }),
  /** A file to remove, of which the platform does not show who sent it. */
  z.object({ kind: z.literal('unknown-owner') }),
  /** A removal failed. `message`: the platform's. */
  z.object({ kind: z.literal('not-removed'), message: z.string() }),
  /** It changed, and could not be sent yet. */
  z.object({ kind: z.literal('waiting'), cause: waitCause }),
]);

/** Why one file is not in sync. Stored as JSON; `src/words/obstacle.ts` has the sentences. */
export type Obstacle = z.infer<typeof obstacleSchema>;
