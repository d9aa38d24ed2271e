import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const HOME = 'usr/lib/botsync';
const COMMAND = `${HOME}/dist/cli/main.js`;
const BINDINGS = `${HOME}/node_modules/@photostructure/sqlite/prebuilds`;
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  engines: { node: string };
  version: string;
};
const hasDpkg = spawnSync('dpkg-deb', ['--version']).status === 0;

/** Built once for all tests, so it goes when they are over. */
const base = mkdtempSync(join(tmpdir(), 'botsync-deb-test-'));
afterAll(() => {
  rmSync(base, { recursive: true });
});

/** What a package holds. */
interface Package {
  readonly file: string;
  readonly field: (name: string) => string;
  /** A line a file: mode, owner, path. */
  readonly files: readonly { readonly mode: string; readonly owner: string; readonly path: string }[];
  /** Its files, unpacked. */
  readonly tree: string;
  /** Its scripts and lists. */
  readonly control: string;
}

function text(command: string, ...args: string[]): string {
  return execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' });
}

function build(architecture: string, umask = '022'): string {
  const output = mkdtempSync(join(base, 'output-'));
  const script = `umask ${umask}; exec "$0" scripts/package-deb.js --architecture "$1" --output "$2"`;
  execFileSync('sh', ['-c', script, process.execPath, architecture, output], {
    cwd: ROOT,
    stdio: 'pipe',
    // How small it gets is not what is tested.
    env: { ...process.env, DPKG_DEB_COMPRESSOR_LEVEL: '1' },
  });
  return join(output, readdirSync(output)[0] ?? '');
}

function unpack(file: string): Package {
  const directory = mkdtempSync(join(base, 'tree-'));
  const [tree, control] = [join(directory, 'tree'), join(directory, 'control')];
  text('dpkg-deb', '--extract', file, tree);
  text('dpkg-deb', '--control', file, control);
  const files = text('dpkg-deb', '--contents', file)
    .trim()
    .split('\n')
    .map((line) => {
      const [, mode = '', owner = '', path = ''] = /^(\S+) (\S+) +\d+ \S+ \S+ (.*)$/u.exec(line) ?? [];
      return { mode, owner, path: path.replace(/^\.\//u, '') };
    });
  return { file, field: (name) => text('dpkg-deb', '--field', file, name).trim(), files, tree, control };
}

describe.runIf(hasDpkg)('the Debian package', () => {
  let amd64: Package;
  let arm64: Package;
  beforeAll(() => {
    amd64 = unpack(build('amd64'));
    arm64 = unpack(build('arm64'));
  }, 120_000);

  test('belongs to root, whatever the umask and the checkout', () => {
    for (const { mode, owner, path } of amd64.files) {
      expect(owner, path).toBe('root/root');
      const wanted =
        mode[0] === 'l'
          ? 'lrwxrwxrwx'
          : mode[0] === 'd'
            ? 'drwxr-xr-x'
            : path === COMMAND
              ? '-rwxr-xr-x'
              : '-rw-r--r--';
      expect(mode, path).toBe(wanted);
    }
    expect(readFileSync(build('amd64', '077')).equals(readFileSync(amd64.file))).toBe(true);
  }, 120_000);

  test('has everything in its place', () => {
    const paths = amd64.files.map(({ path }) => path);
    for (const path of [
      COMMAND,
      `${HOME}/config.schema.json`,
      'etc/botsync/botsync.config.json',
      'usr/lib/sysusers.d/botsync.conf',
      'usr/share/bash-completion/completions/botsync',
      'usr/share/zsh/vendor-completions/_botsync',
      'usr/share/doc/botsync/changelog.gz',
      'usr/share/doc/botsync/docs/CONFIGURATION.md',
      ...readdirSync(join(ROOT, 'systemd')).map((unit) => `usr/lib/systemd/system/${unit}`),
    ])
      expect(paths).toContain(path);
    const completions = join(amd64.tree, 'usr/share/zsh/vendor-completions/_botsync');
    expect(readFileSync(completions, 'utf8')).toMatch(/^#compdef botsync\n/u);
    expect(readFileSync(join(amd64.tree, 'usr/bin/botsync'), 'utf8')).toMatch(/^#!\/usr\/bin\/node\n/u);
    for (const { path } of amd64.files.filter(({ mode }) => mode.startsWith('-'))) {
      expect(path).not.toMatch(/\.test\.|\.d\.ts$|\/test\/|sbom|\/docs\/(?:decisions\/|STYLE)/u);
      expect(readFileSync(join(amd64.tree, path)).includes(ROOT), path).toBe(false);
    }
    for (const unit of readdirSync(join(amd64.tree, 'usr/lib/systemd/system'))) {
      const lines = readFileSync(join(amd64.tree, 'usr/lib/systemd/system', unit), 'utf8');
      expect(lines).not.toContain('/usr/local');
      if (unit.endsWith('.service')) expect(lines).toContain('ExecStart=/usr/bin/botsync sync');
    }
  });

  test('holds one binding, for its architecture, and asks for what that needs', () => {
    for (const [{ tree, field }, architecture, directory, machine] of [
      [amd64, 'amd64', 'linux-x64', 0x3e],
      [arm64, 'arm64', 'linux-arm64', 0xb7],
    ] as const) {
      expect(field('Architecture')).toBe(architecture);
      expect(readdirSync(join(tree, BINDINGS))).toEqual([directory]);
      const [name = '', ...others] = readdirSync(join(tree, BINDINGS, directory));
      expect(others).toEqual([]);
      const binding = readFileSync(join(tree, BINDINGS, directory, name));
      expect(binding.readUInt16LE(18)).toBe(machine);
      const minors = [...binding.toString('latin1').matchAll(/GLIBC_2\.(\d+)/gu)].map(([, minor]) => minor);
      expect(field('Depends')).toContain(`libc6 (>= 2.${Math.max(...minors.map(Number))})`);
      expect(binding.includes('GLIBCXX_3.4.21')).toBe(true);
      expect(binding.toString('latin1')).not.toMatch(/GLIBCXX_3\.4\.(?:2[2-9]|[3-9]\d)/u);
    }
    const { engines, version } = manifest;
    expect(amd64.field('Depends')).toContain(`nodejs (>= ${engines.node.slice(2)})`);
    expect(amd64.field('Version')).toBe(`${version.replace('-', '~')}-1`);
  });

  test.runIf(process.arch === 'x64')('runs from where it was unpacked, with all that it loads', () => {
    const work = mkdtempSync(join(base, 'run-'));
    const examples = join(amd64.tree, 'usr/share/doc/botsync');
    for (const name of ['examples', 'config.example.json'])
      symlinkSync(join(examples, name), join(work, name));
    const botsync = (...args: string[]): string => text(process.execPath, join(amd64.tree, COMMAND), ...args);
    const config = ['-c', join(work, 'config.example.json')];
    expect(botsync('sync', '--once', '--emulator', '--log-format', 'pretty', ...config)).toContain(
      '9 uploaded',
    );
    expect(botsync('status', '--emulator', ...config)).toContain('9 files in sync');
    // Each package by itself: what one run does not load, another may.
    const { dependencies } = JSON.parse(readFileSync(join(amd64.tree, HOME, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const program = Object.keys(dependencies).map((name) => `await import('${name}');`);
    writeFileSync(join(amd64.tree, HOME, 'load.mjs'), program.join(''));
    text(process.execPath, join(amd64.tree, HOME, 'load.mjs'));
  });

  test('keeps what an administrator writes: its configuration, which loads as it is', () => {
    expect(readFileSync(join(amd64.control, 'conffiles'), 'utf8')).toBe('/etc/botsync/botsync.config.json\n');
    const config = readFileSync(join(amd64.tree, 'etc/botsync/botsync.config.json'), 'utf8');
    const loaded = parseConfig(config, '/etc/botsync/botsync.config.json');
    expect(loaded).toMatchObject({ kind: 'ok', warnings: [] });
    expect(loaded).toMatchObject({ config: { stateFile: '/var/lib/botsync/state.db' } });
  });

  test('carries the licence of everything in it', () => {
    const copyright = readFileSync(join(amd64.tree, 'usr/share/doc/botsync/copyright'), 'utf8');
    expect(copyright).toContain(readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim());
    const list = `import { shippedPackages } from './scripts/shipped-packages.js';
      console.log(JSON.stringify([...shippedPackages()]))`;
    const shipped = JSON.parse(text(process.execPath, '--input-type=module', '-e', list)) as string[];
    expect(shipped.length).toBeGreaterThan(50);
    // It has its licence in its README alone, which is not shipped.
    expect(copyright).toContain('Copyright (c) 2013-2016 Hannes Hörl');
    expect(readFileSync(join(amd64.tree, HOME, 'node_modules/pgpass/LICENSE'), 'utf8')).toContain(
      'Hannes Hörl',
    );
    for (const one of shipped.filter((name) => !name.startsWith('node-addon-api@'))) {
      const [name, version] = [one.slice(0, one.lastIndexOf('@')), one.slice(one.lastIndexOf('@') + 1)];
      expect(copyright).toMatch(
        new RegExp(`^${name} ${version.replaceAll('.', String.raw`\.`)} \\(.+\\)\n\n\\S`, 'mu'),
      );
    }
  });

  test('a purge takes the secrets and the records, and nothing of others', () => {
    const root = mkdtempSync(join(base, 'purge-'));
    const wants = 'etc/systemd/system/multi-user.target.wants';
    const write = (path: string, mode = 0o644): void => {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), 'x', { mode });
    };
    for (const path of [
      'token',
      'support.token',
      'user-key',
      'control',
      'database',
      'secrets/bot-token',
      'notes.md',
    ])
      write(`etc/botsync/${path}`);
    for (const path of ['my-secret', 'secrets/other']) write(`etc/botsync/${path}`, 0o640);
    for (const path of [
      'state.db',
      'state.db-wal',
      'state.db.lock',
      'support/state.db',
      'bot-files/state.md',
      'a.pdf',
    ])
      write(`var/lib/botsync/${path}`);
    mkdirSync(join(root, wants), { recursive: true });
    for (const unit of ['botsync.service', 'botsync@support.service', 'other.service'])
      symlinkSync('/nowhere', join(root, wants, unit));
    const script = (name: string, ...args: string[]): string =>
      execFileSync(join(amd64.control, name), args, {
        encoding: 'utf8',
        stdio: 'pipe',
        env: { PATH: process.env['PATH'], DPKG_ROOT: root },
      });
    script('postrm', 'remove');
    expect(existsSync(join(root, 'etc/botsync/token'))).toBe(true);
    const said = script('postrm', 'purge');
    expect(readdirSync(join(root, 'etc/botsync'))).toEqual(['notes.md']);
    expect(readdirSync(join(root, 'var/lib/botsync')).sort()).toEqual(['a.pdf', 'bot-files']);
    expect(readdirSync(join(root, 'var/lib/botsync/bot-files'))).toEqual(['state.md']);
    expect(readdirSync(join(root, wants))).toEqual(['other.service']);
    expect(said).toContain('/var/lib/botsync holds files of others');
  });
});

test.skipIf(hasDpkg)(
  'the Debian package is not tested: dpkg-deb is missing on this machine',
  () => undefined,
);
