import { expect, test } from 'vitest';
import { eventLevel, eventWords } from '../../src/words/event.ts';
import type { FileEvent, Transferred } from '../../src/domain/report.ts';
import { textOf } from '../../src/service/logger.ts';

const file = { source: 'docs', path: 'video.mp4', key: 'video.mp4' };
const transferred = { bytes: 60_000_000, durationMs: 15_200 };

test.each<[string, FileEvent, Transferred | undefined, string, string]>([
  [
    'uploaded docs/video.mp4 (60 MB in 15 s; interrupted before)',
    { kind: 'upload', ...file, reason: 'interrupted', outcome: 'done' },
    transferred,
    'ok',
    'info',
  ],
  [
    'uploaded docs/video.mp4 (60 MB in 15 s; new)',
    { kind: 'upload', ...file, reason: 'new', outcome: 'done' },
    transferred,
    'ok',
    'info',
  ],
  [
    'uploaded docs/video.mp4 (464 B; new)',
    { kind: 'upload', ...file, reason: 'new', outcome: 'done' },
    { bytes: 464, durationMs: 99 },
    'ok',
    'info',
  ],
  [
    'renewed docs/video.mp4 (60 MB in 15 s; before it expires)',
    { kind: 'renew', ...file, reason: 'renewal-due', outcome: 'done' },
    transferred,
    'ok',
    'info',
  ],
  [
    'updated docs/video.mp4 (its settings changed; the content was not sent again)',
    { kind: 'update', ...file, reason: 'settings-changed', outcome: 'done' },
    undefined,
    'ok',
    'info',
  ],
  [
    'adopted docs/video.mp4 (on the platform already)',
    { kind: 'adopt', ...file, reason: 'on the platform already', outcome: 'done' },
    undefined,
    'ok',
    'info',
  ],
  [
    'removed docs/video.mp4 (deleted here)',
    { kind: 'remove', ...file, reason: 'removed', outcome: 'done' },
    undefined,
    'ok',
    'info',
  ],
  [
    'searchable docs/video.mp4 (the platform reports: indexing_completed)',
    { kind: 'confirm', ...file, reason: 'indexing_completed', outcome: 'searchable' },
    undefined,
    'ok',
    'debug',
  ],
  [
    'could not upload docs/video.mp4: 500 Internal',
    { kind: 'upload', ...file, reason: 'new', outcome: 'failed', error: '500 Internal' },
    undefined,
    'failure',
    'warn',
  ],
  [
    'the platform could not process docs/video.mp4: no text in it',
    { kind: 'confirm', ...file, reason: 'indexing_failed', outcome: 'failed', error: 'no text in it' },
    undefined,
    'failure',
    'warn',
  ],
  [
    'refused docs/video.mp4: too large',
    { kind: 'refuse', ...file, reason: 'too large' },
    undefined,
    'warning',
    'warn',
  ],
  [
    'problem with docs/video.mp4: cannot be read: EACCES',
    { kind: 'problem', ...file, reason: 'cannot be read: EACCES' },
    undefined,
    'warning',
    'warn',
  ],
  [
    'skipped docs/video.mp4 (a link)',
    { kind: 'skip', ...file, reason: 'a link' },
    undefined,
    'aside',
    'debug',
  ],
])('%s', (text, event, sent, style, level) => {
  const words = eventWords(event, sent);
  expect(textOf(words)).toBe(text);
  expect(words.style).toBe(style);
  expect(text.startsWith(words.head)).toBe(true);
  expect(eventLevel(event)).toBe(level);
});
