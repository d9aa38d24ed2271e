import { chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { recorded, ROOT } from './scene.ts';

recorded(
  'bots and integrations',
  async (scene) => {
    await scene.run(['bots', '--json']);
    await scene.run(['bots']);
    await scene.run(['bots', '--json'], { env: { BOTSYNC_TOKEN: 'bp_pat_of_somebody_else' } });
    scene.emulator.faults.add({ operation: 'list-bots', kind: 'status', status: 500, times: 2 });
    scene.note('the platform fails twice');
    await scene.run(['bots', '--json']);
    await scene.run(['integration', 'webchat', '--json']);
    await scene.run(['integration', 'webchat', '^0.3.0']);
    await scene.run(['integration', 'slack', '--json']);
  },
  {
    bots: [
      { id: 'bot-1', name: 'Velo rentals' },
      { id: 'bot-2', name: '名前🚲' },
    ],
  },
);

recorded('conversations and messages', async (scene) => {
  await scene.run([
    'conversation',
    'create',
    '--channel',
    'channel',
    '--tag',
    'id=42',
    'source=shop',
    '--json',
  ]);
  await scene.run(['conversation', 'create', '--channel', 'channel']);
  await scene.run(['conversation', 'create', '--channel', 'channel', '--tag', 'shop']);
  scene.emulator.faults.add({ operation: 'create-conversation', kind: 'status', status: 500 });
  scene.note('the platform fails');
  await scene.run(['conversation', 'create', '--channel', 'channel', '--json']);
  const conversation = scene.emulator.listConversations('bot-1')[0]?.id ?? 'none';
  const send = (...args: string[]): string[] => ['message', 'send', '--conversation', conversation, ...args];
  await scene.run(send('--text', 'Is bike 7 back?', '--json'));
  await scene.run(send('--audio-url', 'https://example.com/bell.wav'));
  await scene.run(send('--payload', '-', '--json'), { input: '{ "type": "choice", "text": "Which?" }' });
  await scene.run(['message', 'send', '--conversation', 'nowhere', '--text', 'Hello', '--json']);
  await scene.run(send('--text', 'Hello', '--json'), { env: { BOTSYNC_USER_KEY: 'key_of_somebody_else' } });
});

recorded('what people are told of a pass', async (scene) => {
  scene.configure({ notify: { conversation: { channel: 'channel' } } });
  scene.write('docs/a.md', 'a');
  scene.write('docs/b.md', 'b');
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, key: 'b.md' });
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['sync', '--once', '--force', '--json']);
  for (const { id } of scene.emulator.listConversations('bot-1'))
    for (const { payload } of scene.emulator.listMessages(id)) scene.note(`told: ${JSON.stringify(payload)}`);
});

recorded('doctor', async (scene) => {
  scene.write('docs/a.md', 'alpha\n');
  await scene.run(['doctor', '--json']);
  await scene.run(['doctor']);
  await scene.run(['doctor', '--json'], { env: { BOTSYNC_TOKEN: 'bp_pat_of_somebody_else' } });
  chmodSync(join(scene.directory, 'botsync.config.json'), 0o666);
  rmSync(join(scene.directory, 'docs'), { recursive: true });
  scene.note('everybody may write the configuration, and the directory is gone');
  await scene.run(['doctor']);
});

recorded('mistakes in the configuration', async (scene) => {
  scene.write(
    'botsync.config.json',
    '{\n  "platform": { "botId": "b", "token": "bp_pat_written_out" },\n  "sources": [{ "directory": "d", "keyPrefx": "x" }],\n  "rules": [{ "match": "*.md", "expiresIn": "30 fortnights" }],\n  "uplod": {}\n}\n',
  );
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['doctor', '--json']);
  scene.write('broken.json', '{\n  "platform": { "botId": "b" }\n  "sources": []\n}\n');
  await scene.run(['sync', '--dry-run', '--json', '-c', 'broken.json']);
  await scene.run(['status', '--json', '-c', 'nowhere.json']);
  scene.configure({ rules: [{ match: '*.xyz', index: true }] }, { token: 'env:NO_SUCH_VARIABLE' });
  scene.write('docs/a.xyz', 'a');
  scene.note('a token that is not set');
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['sync', '--dry-run', '--json']);
});

recorded('mistakes on the command line', async (scene) => {
  await scene.run([]);
  await scene.run(['sinc']);
  await scene.run(['sync', '--once', '--no-such']);
  await scene.run(['sync', '--once', '--dry-run']);
  await scene.run(['status', '--watch']);
  await scene.run(['status', '--watch', '--usage']);
  await scene.run(['explain', 'botsync.config.json', '--json']);
  await scene.run(['approve', 'nothing', '--json']);
  await scene.run(['approve', '--json']);
  await scene.run(['message', 'send', '--conversation', 'c', '--audio-url', 'a.mp3']);
});

recorded('a defect', async (scene) => {
  scene.write(
    'preload.mjs',
    `import path from 'node:path';
     import { syncBuiltinESMExports } from 'node:module';
     const { resolve } = path;
     path.resolve = (...parts) => {
       if (parts.at(-1) === 'botsync.config.json') throw Object.assign(new TypeError('of this test'), { stack: 'TypeError: of this test' });
       return resolve(...parts);
     };
     syncBuiltinESMExports();`,
  );
  const preload = pathToFileURL(join(scene.directory, 'preload.mjs')).href;
  await scene.run(['sync', '--once', '--json'], { env: { NODE_OPTIONS: `--import=${preload}` } });
});

recorded('a first configuration, and the local platform within', async (scene) => {
  const init = ['init', '-c', 'new.json', '--bot', 'bot-1', '--directory', './docs'];
  scene.write('docs/a.md', 'alpha\n');
  await scene.run([...init, '--json']);
  await scene.run(init);
  await scene.run(['sync', '--once', '--emulator', '-c', 'new.json']);
  await scene.run(['status', '--emulator', '-c', 'new.json', '--json']);
  await scene.run(['bots', '--emulator', '-c', 'new.json', '--json']);
});

recorded('a local platform on its own', async (scene) => {
  const args = [
    'emulator',
    '--port',
    '0',
    '--data',
    'own',
    '--bot',
    'bot-1=Velo',
    '--token',
    'env:BOTSYNC_TOKEN',
  ];
  const running = scene.start([...args, '--json']);
  await running.says('"dataDir"');
  const own = JSON.parse(running.output()) as Record<string, string>;
  for (const name of ['baseUrl', 'workspaceId', 'webhookId', 'userKey']) scene.know(own[name] ?? '', name);
  await scene.run(args);
  running.child.kill('SIGTERM');
  await running.ended();
});

recorded('a history of nothing, and how far back it goes', async (scene) => {
  await scene.run(['history']);
  await scene.run(['history', '--json']);
  await scene.run(['history', '--since', '30d']);
  await scene.run(['history', '--since', '31d']);
  await scene.run(['history', '--since', 'yesterday']);
});

recorded('a daemon', async (scene) => {
  const quick = { watch: { settle: '50ms' }, removals: { mode: 'expire', delay: '1h' } };
  scene.configure({
    ...quick,
    sources: [{ directory: './docs' }, { directory: './other', keyPrefix: 'other/' }],
  });
  scene.write('docs/a.md', 'a');
  scene.write('other/b.md', 'b');
  await scene.run(['sync', '--once', '--json']);
  rmSync(join(scene.directory, 'other/b.md'));
  const daemon = scene.start(['sync', '--json', '--log-format', 'json']);
  await daemon.says('"trigger":"start"');
  await scene.isWatching();
  await scene.run(['status', '--json']);
  await scene.run(['sync', '--once', '--json']);
  await scene.run(['approve', 'docs', '--yes', '--json']);
  await scene.run(['approve', 'other']);
  await scene.run(['approve', '--yes', '--json']);
  await daemon.says('"trigger":"approved"');
  scene.write('docs/c.md', 'c');
  await daemon.says('"path":"c.md"');
  await daemon.says('In sync: 1 uploaded');
  daemon.child.kill('SIGHUP');
  await daemon.says('"trigger":"reload"');
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

recorded('a daemon that is paused', async (scene) => {
  scene.write('docs/a.md', 'a');
  await scene.run(['pause']);
  await scene.run(['resume', '--json']);
  const daemon = scene.start(['sync', '--json', '--log-format', 'json']);
  await daemon.says('"trigger":"start"');
  await scene.isWatching();
  await scene.run(['pause', '--for', '2']);
  await scene.run(['pause']);
  await scene.run(['pause', '--json']);
  await scene.run(['status']);
  await scene.run(['status', '--json']);
  await scene.run(['resume']);
  await daemon.says('"trigger":"asked"');
  await scene.run(['resume']);
  await scene.run(['resume', '--json']);
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

recorded('a configuration that changes under a daemon', async (scene) => {
  scene.write('docs/a.md', 'a');
  scene.write('docs/b.txt', 'b');
  const daemon = scene.start(['sync', '--json', '--log-format', 'json']);
  await daemon.says('"trigger":"start"');
  await scene.isWatching();
  scene.configure({ rules: [{ match: '*.md', tags: { a: 'b' } }] });
  await daemon.says('"trigger":"reload"');
  await scene.isWatching();
  scene.configure({ rules: [{ match: '*.md', tags: { a: 1 } }] });
  await daemon.says('not reloaded');
  daemon.child.kill('SIGTERM');
  await daemon.ended();
});

recorded('help', async (scene) => {
  await scene.run(['--help']);
  await scene.run(['sync', '--help']);
  await scene.run(['message', 'send', '--help']);
  await scene.run(['explain', join(ROOT, 'package.json')]);
});
