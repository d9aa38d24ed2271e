import { blocked, refused, retried, row } from './cells.ts';
import type { Row } from './expectation.ts';
import type { STATUS_FAULTS } from './faults.ts';
import { denies, failsForNow, forbids, refuses, turnsAway } from './interfaces.ts';

/** What the store said: it has no say in credentials, and its words are not repeated. */
const store = (words: string): string => `the upload address answered ${words}`;

/** Whatever a status of the platform means: from the store these mean that a new address is needed, or time. */
const atStore = (words: string) => retried(store(words));

const refusedEverywhere = (words: string): Row =>
  row({ upsert: refused(words), upload: refused(store(words)), ...refuses(words) });

const passesEverywhere = (words: string): Row =>
  row({ upsert: retried(words), upload: atStore(words), ...failsForNow(words) });

/** What every status of the platform comes to (platform-facts.md, Errors; interface.md, Errors). */
export const STATUS_TABLE: Readonly<Record<keyof typeof STATUS_FAULTS, Row>> = {
  '400 InvalidPayload': refusedEverywhere('400 InvalidPayload'),
  '400 InvalidDataFormat': refusedEverywhere('400 InvalidDataFormat'),
  '400 InvalidQuery': refusedEverywhere('400 InvalidQuery'),
  '400 ReferenceNotFound': refusedEverywhere('400 ReferenceNotFound'),
  '401 Unauthorized': row({
    upsert: blocked('all', 4, '401 Unauthorized'),
    upload: atStore('401 Unauthorized'),
    ...denies('401 Unauthorized'),
  }),
  '402 PaymentRequired': row({
    upsert: blocked('room', 3, '402 PaymentRequired'),
    upload: refused(store('402 PaymentRequired')),
    ...refuses('402 PaymentRequired'),
  }),
  '403 Forbidden': row({
    upsert: blocked('bot', 4, '403 Forbidden'),
    upload: atStore('403 Forbidden'),
    ...forbids('403 Forbidden'),
  }),
  '403 QuotaExceeded': row({
    upsert: blocked('room', 3, '403 QuotaExceeded'),
    upload: atStore('403 QuotaExceeded'),
    ...refuses('403 QuotaExceeded'),
  }),
  '403 QuotaExceeded, in the other shape': row({
    upsert: blocked('room', 3, '403 QuotaExceeded: full'),
    upload: atStore('403'),
    ...refuses('403 QuotaExceeded: full'),
  }),
  '404 ResourceNotFound': row({
    upsert: blocked('bot', 4, '404 ResourceNotFound'),
    upload: atStore('404 ResourceNotFound'),
    ...refuses('404 ResourceNotFound'),
  }),
  '405 MethodNotFound': refusedEverywhere('405 MethodNotFound'),
  '408 RequestTimeout': passesEverywhere('408 RequestTimeout'),
  '409 ResourceLockedConflict': passesEverywhere('409 ResourceLockedConflict'),
  '409 AlreadyExists': row({
    upsert: refused('409 AlreadyExists'),
    upload: atStore('409 AlreadyExists'),
    ...refuses('409 AlreadyExists'),
  }),
  '409 RelationConflict': row({
    upsert: refused('409 RelationConflict'),
    upload: atStore('409 RelationConflict'),
    ...refuses('409 RelationConflict'),
  }),
  '410 ResourceGone': row({
    upsert: refused('410 ResourceGone'),
    upload: atStore('410 ResourceGone'),
    ...refuses('410 ResourceGone'),
  }),
  '413 PayloadTooLarge': refusedEverywhere('413 PayloadTooLarge'),
  '413 LimitExceeded': refusedEverywhere('413 LimitExceeded'),
  '415 UnsupportedMediaType': refusedEverywhere('415 UnsupportedMediaType'),
  '429 RateLimited': row({
    upsert: retried('429 RateLimited'),
    upload: atStore('429 RateLimited'),
    ...turnsAway('429 RateLimited'),
  }),
  '500 Unknown': passesEverywhere('500 Unknown'),
  '500 Internal': passesEverywhere('500 Internal'),
  '502 with a page of HTML': passesEverywhere('502'),
  '503 Unavailable': passesEverywhere('503 Unavailable'),
  '504 OperationTimeout': passesEverywhere('504 OperationTimeout'),
};
