import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT } from '../../src/domain/exit-code.ts';
import { makeTemporaryDirectory } from '../temporary-directory.ts';

const UNITS = resolve(import.meta.dirname, '../../systemd');
const services = readdirSync(UNITS).filter((name) => name.endsWith('.service'));
const hasTool = spawnSync('systemd-analyze', ['--version']).status === 0;

test.runIf(hasTool)('systemd finds nothing wrong with the units', () => {
  const directory = makeTemporaryDirectory('units');
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

test('all services are shut in alike', () => {
  const [first, ...others] = services.map((service) =>
    readFileSync(join(UNITS, service), 'utf8')
      .split('\n')
      .filter((line) =>
        /^(?:NoNew|Protect|Private|Remove|Restrict[A-Z]|Lock|Cap|Ambient|SystemCall|UMask)/u.test(line),
      )
      .sort(),
  );
  expect(first?.length).toBeGreaterThan(20);
  for (const other of others) expect(other).toEqual(first);
});

test.each(services.filter((name) => name !== 'botsync-once.service'))(
  '%s is told of by a child, and restarted only where that helps',
  (service) => {
    const lines = readFileSync(join(UNITS, service), 'utf8').split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        'Type=notify',
        'NotifyAccess=all',
        // Else systemd would end the child that tells of the stop.
        'KillMode=mixed',
        `RestartPreventExitStatus=${EXIT.usage} ${EXIT.busy}`,
      ]),
    );
    // V8 compiles as it runs, and the watch limit stands in /proc/sys.
    expect(lines.join('\n')).not.toMatch(/^(?:MemoryDenyWriteExecute|ProcSubset)=/mu);
  },
);
