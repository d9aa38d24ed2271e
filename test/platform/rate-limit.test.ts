import { describe, expect, test } from 'vitest';
import { readRateLimit, retryAfterMs, type ResponseHeaders } from '../../src/platform/rate-limit.ts';
import { START } from './fixture.ts';

const IN_9_5_S = new Date(START + 9500).toUTCString();
const DAY_MS = 86_400_000;
const EPOCH_IN_9_5_S = String((START + 9500) / 1000);

describe('how long to wait', () => {
  test.each<[string, ResponseHeaders, number | null]>([
    ['seconds', { 'retry-after': '7' }, 7000],
    ['fractions of a second', { 'retry-after': '0.25' }, 250],
    ['none at all', { 'retry-after': '0' }, 0],
    ['spaces around', { 'retry-after': ' 7 ' }, 7000],
    ['a date', { 'retry-after': IN_9_5_S }, 9500],
    ['a date that is past', { 'retry-after': 'Mon, 01 Jan 2001 00:00:00 GMT' }, 0],
    ['twice: the first', { 'retry-after': ['7', '8'] }, 7000],
    ['RateLimit-Reset', { 'ratelimit-reset': '3' }, 3000],
    ['X-RateLimit-Reset', { 'x-ratelimit-reset': '4' }, 4000],
    ['both: RateLimit-Reset', { 'ratelimit-reset': '3', 'x-ratelimit-reset': '4' }, 3000],
    ['all: Retry-After', { 'retry-after': '7', 'ratelimit-reset': '3', 'x-ratelimit-reset': '4' }, 7000],
    ['an epoch time', { 'x-ratelimit-reset': EPOCH_IN_9_5_S }, 9500],
    ['an epoch time that is past', { 'x-ratelimit-reset': '1600000000' }, 0],
    ['a day', { 'retry-after': '86400' }, DAY_MS],
    ['more than a day', { 'retry-after': '86401' }, DAY_MS],
    ['more seconds than there are numbers', { 'retry-after': '9'.repeat(400) }, DAY_MS],
    ['a date in another age', { 'retry-after': '+275760-09-13T00:00:00Z' }, DAY_MS],
    ['the longest duration', { 'x-ratelimit-reset': '999999999' }, DAY_MS],
    ['an epoch time in another age', { 'x-ratelimit-reset': '99999999999999999999' }, DAY_MS],
    ['nothing', {}, null],
    ['garbage', { 'retry-after': 'soon', 'ratelimit-reset': '-3' }, null],
    ['an empty header', { 'retry-after': '', 'ratelimit-reset': '' }, null],
    ['a number in another notation', { 'ratelimit-reset': '1e3' }, null],
    ['garbage before a sensible one', { 'retry-after': 'soon', 'ratelimit-reset': '3' }, 3000],
  ])('%s', (_, headers, waitMs) => {
    expect(retryAfterMs(headers, START)).toBe(waitMs);
  });
});

describe('the state of the rate limit', () => {
  test.each<[string, ResponseHeaders, ReturnType<typeof readRateLimit>]>([
    [
      'of the standard',
      { 'ratelimit-remaining': '5', 'ratelimit-reset': '2' },
      { remaining: 5, resetMs: 2000 },
    ],
    ['with X-', { 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '2' }, { remaining: 5, resetMs: 2000 }],
    ['used up', { 'ratelimit-remaining': '0', 'ratelimit-reset': '2' }, { remaining: 0, resetMs: 2000 }],
    [
      'renewed at an epoch time',
      { 'ratelimit-remaining': '5', 'ratelimit-reset': EPOCH_IN_9_5_S },
      { remaining: 5, resetMs: 9500 },
    ],
    ['without a reset', { 'ratelimit-remaining': '5' }, null],
    ['with a reset only in Retry-After', { 'ratelimit-remaining': '5', 'retry-after': '2' }, null],
    ['without what is left', { 'ratelimit-reset': '2' }, null],
    ['in words', { 'ratelimit-remaining': 'many', 'ratelimit-reset': '2' }, null],
  ])('%s', (_, headers, limit) => {
    expect(readRateLimit(headers, START)).toEqual(limit);
  });
});
