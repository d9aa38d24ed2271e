import { describe, expect, test } from 'vitest';
import { readRateLimit, retryAfterMs, type ResponseHeaders } from '../../src/platform/rate-limit.ts';
import { START } from './fixture.ts';

const IN_9_5_S = new Date(START + 9500).toUTCString();
const DAY_MS = 86_400_000;
const REPORT = { remaining: 0, limit: null, resetMs: null, windowMs: null };
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
    expect(retryAfterMs(429, headers, START)).toBe(waitMs);
  });
});

describe('the reset of the rate limit, which every answer carries,', () => {
  const headers = (remaining: string): ResponseHeaders => ({
    'ratelimit-limit': '100',
    'ratelimit-remaining': remaining,
    'ratelimit-reset': '300',
  });

  test.each([408, 409, 500, 502, 503, 504])('asks for no wait with %d while something is left', (status) => {
    expect(retryAfterMs(status, headers('95'), START)).toBeNull();
    expect(retryAfterMs(status, { 'ratelimit-reset': '300' }, START)).toBeNull();
  });

  test('asks for a wait where nothing is left, and with 429', () => {
    expect(retryAfterMs(503, headers('0'), START)).toBe(300_000);
    expect(retryAfterMs(429, headers('95'), START)).toBe(300_000);
  });

  test('says nothing against Retry-After', () => {
    expect(retryAfterMs(503, { ...headers('95'), 'retry-after': '7' }, START)).toBe(7000);
  });
});

describe('the state of the rate limit', () => {
  test.each<[string, ResponseHeaders, ReturnType<typeof readRateLimit>]>([
    [
      'of the standard',
      { 'ratelimit-remaining': '5', 'ratelimit-reset': '2' },
      { ...REPORT, remaining: 5, resetMs: 2000 },
    ],
    [
      'with X-',
      { 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': '2' },
      { ...REPORT, remaining: 5, resetMs: 2000 },
    ],
    [
      'used up',
      { 'ratelimit-remaining': '0', 'ratelimit-reset': '2' },
      { ...REPORT, remaining: 0, resetMs: 2000 },
    ],
    [
      'renewed at an epoch time',
      { 'ratelimit-remaining': '5', 'ratelimit-reset': EPOCH_IN_9_5_S },
      { ...REPORT, remaining: 5, resetMs: 9500 },
    ],
    ['without a reset', { 'ratelimit-remaining': '5' }, { ...REPORT, remaining: 5 }],
    [
      'with a reset only in Retry-After',
      { 'ratelimit-remaining': '5', 'retry-after': '2' },
      { ...REPORT, remaining: 5 },
    ],
    [
      'with its limit',
      { 'ratelimit-remaining': '5', 'ratelimit-limit': '100' },
      { ...REPORT, remaining: 5, limit: 100 },
    ],
    [
      'with a policy',
      { 'ratelimit-remaining': '5', 'ratelimit-limit': '100', 'ratelimit-policy': '100;w=60' },
      { ...REPORT, remaining: 5, limit: 100, windowMs: 60_000 },
    ],
    [
      'with a policy beside the limit',
      { 'ratelimit-remaining': '5', 'ratelimit-limit': '100, 100;w=1' },
      { ...REPORT, remaining: 5, limit: 100, windowMs: 1000 },
    ],
    [
      'with nonsense beside it',
      { 'ratelimit-remaining': '5', 'ratelimit-limit': 'many', 'ratelimit-policy': '100;w=0' },
      { ...REPORT, remaining: 5 },
    ],
    ['without what is left', { 'ratelimit-reset': '2' }, null],
    ['in words', { 'ratelimit-remaining': 'many', 'ratelimit-reset': '2' }, null],
  ])('%s', (_, headers, limit) => {
    expect(readRateLimit(headers, START)).toEqual(limit);
  });
});
