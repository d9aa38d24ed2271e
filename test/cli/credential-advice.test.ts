import { expect, test } from 'vitest';
import { refusalAdvice } from '../../src/cli/credential-advice.ts';
import { load } from '../config/fixture.ts';

const { config: CONFIG } = load({
  platform: { baseUrl: 'https://p', token: 'env:TOKEN' },
  sources: [
    { directory: './docs', botId: 'bot-1' },
    { directory: './more', botId: 'bot-2' },
    { directory: './again', botId: 'bot-1' },
  ],
});

const OPTIONS = { config: 'c.json', emulator: false };

const unknown = { source: 'docs', error: '404 ResourceNotFound: no such bot', isUnknownBot: true };

const CREDENTIALS =
  'https://p (platform.baseUrl) refuses the credentials: check platform.token (from the environment variable TOKEN), platform.workspaceId and the bot ids, or run: botsync doctor -c c.json';

test.each([
  [
    'a bot that the platform does not know',
    [unknown],
    'https://p (platform.baseUrl) does not know the bot bot-1: check botId and platform.workspaceId, or run: botsync doctor -c c.json',
  ],
  [
    'two of them',
    [unknown, { ...unknown, source: 'again' }, { ...unknown, source: 'more' }],
    'https://p (platform.baseUrl) does not know the bots bot-1, bot-2: check botId and platform.workspaceId, or run: botsync doctor -c c.json',
  ],
  [
    'a token that is refused',
    [{ source: 'docs', error: '401 Unauthorized', isUnknownBot: false }],
    CREDENTIALS,
  ],
  ['one of them', [unknown, { source: 'more', error: '403 Forbidden', isUnknownBot: false }], CREDENTIALS],
  ['nothing that is known', [], CREDENTIALS],
])('what to check for %s', (_what, refused, advice) => {
  expect(refusalAdvice(CONFIG, refused, OPTIONS)).toBe(advice);
});
