import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { DaemonPlatform } from '../../../src/run/daemon/daemon-platform.ts';
import { load } from '../../../src/run/run-base.ts';
import { SyncError } from '../../../src/run/sync-error.ts';
import type { LoadedConfig } from '../../../src/config/load-config.ts';
import type { Log } from '../../../src/service/logger.ts';
import { configText, temporaryDirectory } from '../../config/fixture.ts';

/** A daemon's way to the platform, and configurations for it, one after the other in the same place. */
function daemonPlatform(emulator: boolean) {
  const config = join(temporaryDirectory(), 'botsync.config.json');
  const options = { config, emulator };
  const ignore = (): void => undefined;
  const log: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
  const platform = new DaemonPlatform({ target: options, env: process.env, log }, ignore);
  onTestFinished(() => platform.close());
  const configured = (fields: object): LoadedConfig => {
    writeFileSync(config, configText({ ...fields }), { mode: 0o600 });
    return load(options);
  };
  return { platform, configured };
}

test('the emulator is one for all configurations, each of which has its own settings', async () => {
  const { platform, configured } = daemonPlatform(true);
  const first = (await platform.open(configured({}))).access;
  expect(platform.take(first)).toBeNull();
  const { baseUrl } = first.credentials;
  const same = (await platform.open(configured({ watch: { settle: '1s' } }))).access;
  expect(platform.take(same)).toBeNull();
  expect(platform.current).toBe(first);
  const identity = { botId: 'bot-1', identity: { userId: 'u' } };
  const other = (await platform.open(configured({ platform: identity }))).access;
  expect(other.credentials.baseUrl).toBe(baseUrl);
  expect(platform.take(other)).toBe(first);
  expect(platform.current).toBe(other);
  platform.retire(first, undefined);
  // Its data is free for the next one.
  await platform.close();
  expect(await fetch(baseUrl).catch(() => null)).toBeNull();
});

test('a configuration that lacks what people are told by leaves the way as it is', async () => {
  process.env['BOTSYNC_TEST_TOKEN'] = 'the-token';
  onTestFinished(() => {
    delete process.env['BOTSYNC_TEST_TOKEN'];
  });
  const { platform, configured } = daemonPlatform(false);
  const named = { platform: { botId: 'bot-1', token: 'env:BOTSYNC_TEST_TOKEN' } };
  const { access, notifier } = await platform.open(configured(named));
  expect(notifier).toBeNull();
  platform.take(access);
  const telling = { ...named, notify: { conversation: { channel: 'channel' } } };
  await expect(platform.open(configured(telling))).rejects.toThrow(SyncError);
  await expect(platform.open(configured({}))).rejects.toThrow(/platform\.token: is missing/u);
  expect(platform.current).toBe(access);
});
