import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const UNITS = resolve(import.meta.dirname, '../../systemd');
const services = readdirSync(UNITS).filter((name) => name.endsWith('.service'));
const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0;

test.runIf(hasTool)('systemd finds nothing wrong with the units', () => {
  const directory = mkdtempSync(join(tmpdir(), 'botsync-units-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true });
  });
  const copies = readdirSync(UNITS).map((name) => {
    const copy = join(directory, name);
    // The command has to exist; on a machine that builds botsync it is not installed.
    writeFileSync(
      copy,
      readFileSync(join(UNITS, name), 'utf8').replace('/usr/local/bin/botsync', process.execPath),
    );
    return copy;
  });
  const verdict = spawnSync('systemd-analyze', ['verify', ...copies], { encoding: 'utf8' });
  expect(verdict).toMatchObject({ status: 0, stderr: '' });
});

test.runIf(hasTool).each(services)('%s is shut in as tightly as Node allows', (service) => {
  const text = execFileSync('systemd-analyze', ['security', '--offline=true', join(UNITS, service)], {
    encoding: 'utf8',
  });
  const level = Number(/exposure level for .*: ([\d.]+)/u.exec(text)?.[1]);
  expect(level).toBeLessThanOrEqual(2);
});
