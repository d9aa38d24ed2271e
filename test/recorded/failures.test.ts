import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireLock } from '../../src/service/process-lock.ts';
import { DRY, ONCE, recorded } from './scene.ts';

recorded('what the platform refuses', async (scene) => {
  scene.fill(7);
  scene.configure({ upload: { attempts: 1 } });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 400, key: '00.md' });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 409, key: '01.md' });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'missing-upload-url', key: '02.md' });
  scene.emulator.faults.add({ operation: 'upload', kind: 'status', status: 403, key: '03.md' });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'expired-upload-url', key: '04.md' });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 413, key: '05.md' });
  await scene.run(ONCE);
  scene.write('docs/00.md', 'corrected');
  rmSync(join(scene.directory, 'docs/05.md'));
  scene.note('the first is another now, the last that was refused is gone');
  await scene.run(['explain', 'docs/00.md', '--json']);
  await scene.run(['explain', 'docs/01.md']);
  await scene.run(['status', '--json']);
  await scene.run(DRY);
  await scene.run(['sync', '--once']);
});

recorded('what is tried again', async (scene) => {
  scene.configure({ upload: { attempts: 3 } });
  scene.write('docs/a.md', 'alpha');
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 409 });
  scene.emulator.faults.add({ operation: 'upload', kind: 'status', status: 403 });
  await scene.run(ONCE);
  scene.emulator.faults.add({
    operation: 'upsert',
    kind: 'status',
    status: 429,
    headers: { 'retry-after': '0' },
  });
  scene.emulator.faults.add({ operation: 'upload', kind: 'cut', afterBytes: 1 });
  scene.note('too many requests, then a connection that ends');
  await scene.run(['sync', '--once', '--force', '--json']);
  scene.emulator.faults.add({ operation: 'upsert', kind: 'garbage' });
  scene.note('an answer that makes no sense');
  await scene.run(['sync', '--once', '--force', '--json']);
});

recorded('wrong credentials and unknown bots', async (scene) => {
  scene.fill(2);
  await scene.run(ONCE, { env: { BOTSYNC_TOKEN: 'bp_pat_of_somebody_else' } });
  await scene.run(['sync', '--once'], { env: { BOTSYNC_TOKEN: 'bp_pat_of_somebody_else' } });
  scene.emulator.faults.add({ operation: 'upsert', kind: 'status', status: 403 });
  scene.note('the token may not do this');
  await scene.run(ONCE);
  scene.configure({}, { botId: 'bot-9' });
  scene.note('a bot that is not there');
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
});

recorded(
  'a full quota',
  async (scene) => {
    scene.fill(4);
    await scene.run(ONCE);
    await scene.run(['status', '--json']);
    await scene.run(['sync', '--once', '--log-level', 'silent']);
  },
  { quotas: { fileStorageBytes: 15 } },
);

recorded('a platform that is unreachable', async (scene) => {
  scene.fill(1);
  scene.configure({ upload: { giveUpAfter: '1s' } });
  await scene.emulator.conditions.set({ kind: 'refused' });
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
});

recorded('an interrupted pass, and the next', async (scene) => {
  scene.fill(3);
  scene.emulator.faults.add({ operation: 'upload', kind: 'hang', after: 1 });
  const interrupted = scene.start(ONCE);
  await interrupted.says('"path":"00.md"');
  await scene.hasStruck();
  interrupted.child.kill('SIGTERM');
  await interrupted.says('stopping');
  scene.emulator.faults.clear();
  await interrupted.ended();
  scene.emulator.faults.add({ operation: 'upload', kind: 'hang' });
  scene.note('a second signal ends what hangs');
  const ended = scene.start(ONCE);
  await scene.hasStruck();
  ended.child.kill('SIGINT');
  await ended.says('stopping');
  ended.child.kill('SIGINT');
  await ended.ended();
  scene.emulator.faults.clear();
  await scene.run(['status', '--json']);
  await scene.run(ONCE);
});

recorded('a state file of another, and a damaged one', async (scene) => {
  scene.fill(2);
  const file = join(scene.directory, '.botsync/state.db');
  const attempt = acquireLock(file, 'sync --once', new Date());
  if (attempt.kind !== 'held') throw new Error(attempt.kind);
  await scene.run(ONCE);
  await scene.run(['status', '--json']);
  attempt.lock.release();
  await scene.run(ONCE);
  writeFileSync(file, 'no database '.repeat(1000));
  scene.note('the state file is overwritten');
  await scene.run(DRY);
  await scene.run(ONCE);
});
