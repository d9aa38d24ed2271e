import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import mime from 'mime-types';
import { expect, test } from 'vitest';
import { createParser } from '../../src/cli/parser.ts';
import { BINARY } from './binary.ts';

test('a command runs without its help being drawn', async () => {
  const ran: string[] = [];
  const parser = createParser().command('go', 'Go', {}, () => void ran.push('go'));
  await parser.parseAsync(['go']);
  const internals = parser as unknown as {
    getInternalMethods: () => { getUsageInstance: () => { hasCachedHelpMessage: () => boolean } };
  };
  expect(ran).toEqual(['go']);
  expect(internals.getInternalMethods().getUsageInstance().hasCachedHelpMessage()).toBe(false);
});

test('the built command loads nothing for emojis, fetch or HTTP/2, and knows every content type', async () => {
  expect(readFileSync(join(dirname(BINARY), 'start.js'), 'utf8')).not.toMatch(/RGI_Emoji|Intl\.Segmenter/);
  expect(readFileSync(chunk('undici'), 'utf8')).not.toMatch(/node:http2|node:undici|lib\/web\/fetch\/index/);
  const { default: undici } = (await import(chunk('undici'))) as { default: object };
  expect(Object.keys(undici)).toEqual(['Agent', 'Pool', 'EnvHttpProxyAgent', 'buildConnector']);
  expect(Object.values((await import(chunk('mime-db'))) as object)).toContainEqual({ types: mime.types });
});

const chunk = (name: string): string => join(dirname(BINARY), `../chunks/${name}.js`);
