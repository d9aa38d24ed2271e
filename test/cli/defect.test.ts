import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { createSite, run } from './binary.ts';

/** What happens with an error that nothing in botsync expects, made where it resolves the path of the configuration. */
const ways = {
  'that a command throws': 'throw error;',
  'in a callback': 'setImmediate(() => { throw error; });',
  'of a promise that nothing waits for': 'void Promise.reject(error);',
};

test.each(Object.entries(ways))('a defect %s is told with its places in src/', async (_way, happen) => {
  const site = await createSite();
  site.write(
    'preload.mjs',
    `import path from 'node:path';
     import { syncBuiltinESMExports } from 'node:module';
     const { resolve } = path;
     path.resolve = (...parts) => {
       if (parts.at(-1) === 'botsync.config.json') {
         const error = new TypeError('of this test');
         ${happen}
       }
       return resolve(...parts);
     };
     syncBuiltinESMExports();`,
  );
  const preload = pathToFileURL(join(site.directory, 'preload.mjs')).href;
  const env = { ...site.env, NODE_OPTIONS: `--import=${preload}` };
  const { code, stderr } = await run(site.directory, ['sync', '--once'], env);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^This is a defect of botsync \S+, please report it:\nTypeError: of this test\n/u);
  expect(stderr).toMatch(/^ +at loadConfig \(src\/config\/load-config\.ts:\d+:\d+\)$/mu);
  expect(stderr).not.toContain('dist/cli');
});
