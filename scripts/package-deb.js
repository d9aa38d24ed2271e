// Builds the Debian package, after a build of the command: `npm run package:deb`, or for another architecture
// `npm run package:deb -- --architecture arm64`. Needs dpkg-deb, no root and no network. The same tree gives the same bytes:
// the times within are those of SOURCE_DATE_EPOCH, by default the last commit's.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { copyrightText } from './debian-copyright.js';
import { writeShippedTree } from './shipped-tree.js';

/** Debian's names of the architectures that the binding is prebuilt for, and Node's. */
const ARCHITECTURES = { amd64: 'x64', arm64: 'arm64' };
/** What the prebuilt binding asks of the system: test/packaging/debian.test.ts compares. */
const NEEDS = ['libc6 (>= 2.29)', 'libgcc-s1 (>= 3.0)', 'libstdc++6 (>= 5.2)'];
/** Any of them makes the user. */
const MAKES_USERS = 'systemd | systemd-standalone-sysusers | systemd-sysusers';
const MAINTAINER = 'The botsync authors <botsync@users.noreply.github.com>';
const TEMPLATES = 'packaging/debian';
/** Seconds since 1970, as text: no file in the package is newer. */
const EPOCH = process.env.SOURCE_DATE_EPOCH ?? timeOfLastCommit();

const { values: options } = parseArgs({
  options: { architecture: { type: 'string' }, output: { type: 'string', default: '.' } },
});
const architecture =
  options.architecture ?? execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
if (!(architecture in ARCHITECTURES)) {
  console.error(
    `There is no prebuilt binding for ${architecture}; --architecture takes ${Object.keys(ARCHITECTURES).join(' or ')}`,
  );
  process.exit(2);
}
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
/** What the npm package leaves out of the directories that it contains: it is for those who change botsync. */
const LEFT_OUT = manifest.files.filter((file) => file.startsWith('!')).map((file) => file.slice(1));
const root = mkdtempSync(join(tmpdir(), 'botsync-deb-'));
try {
  furnish(root);
  console.log(pack(root));
} finally {
  rmSync(root, { recursive: true });
}

/** Puts everything in its place, with the modes it is to have. */
function furnish(root) {
  const home = join(root, 'usr/lib/botsync');
  const docs = join(root, 'usr/share/doc/botsync');
  writeShippedTree(home, ARCHITECTURES[architecture]);
  // Debian has it in the copyright file.
  rmSync(join(home, 'LICENSE'));
  useSystemsNode(join(home, manifest.bin.botsync));
  link(root, 'usr/bin/botsync', join('usr/lib/botsync', manifest.bin.botsync));
  copyDocs(docs);
  link(root, 'usr/lib/botsync/docs', 'usr/share/doc/botsync/docs');
  writeUnits(join(root, 'usr/lib/systemd/system'));
  write(root, 'usr/lib/sysusers.d/botsync.conf', readFileSync(join(TEMPLATES, 'sysusers.conf')));
  write(root, 'etc/botsync/botsync.config.json', readFileSync(join(TEMPLATES, 'botsync.config.json')));
  writeCompletions(root);
  setModes(root);
  writeControl(root);
}

/** The command runs with Debian's Node, not with one that somebody's PATH names first. */
function useSystemsNode(command) {
  const text = readFileSync(command, 'utf8');
  if (!text.startsWith('#!/usr/bin/env node\n')) throw new Error(`${command} starts with another line`);
  writeFileSync(command, text.replace('#!/usr/bin/env node', '#!/usr/bin/node'));
}

function copyDocs(to) {
  mkdirSync(to, { recursive: true });
  for (const name of [
    'README.md',
    'SECURITY.md',
    'config.example.json',
    'config.schema.json',
    'docs',
    'examples',
  ])
    cpSync(name, join(to, name), {
      recursive: true,
      filter: (file) => basename(file) !== '.botsync' && !LEFT_OUT.includes(file),
    });
  writeFileSync(join(to, 'copyright'), copyrightText());
  writeFileSync(join(to, 'changelog.gz'), compress(readFileSync('CHANGELOG.md')));
  writeFileSync(join(to, 'changelog.Debian.gz'), compress(debianChangelog()));
}

/** The changes of the package itself, in Debian's form. */
function debianChangelog() {
  const date = new Date(Number(EPOCH) * 1000).toUTCString().replace('GMT', '+0000');
  return [
    `${manifest.name} (${debianVersion(manifest.version)}) stable; urgency=medium`,
    `  * botsync ${manifest.version}; what is new is in changelog.gz.`,
    ` -- ${MAINTAINER}  ${date}\n`,
  ].join('\n\n');
}

/** The units of an installation by npm, with the command where a Debian package has it. */
function writeUnits(to) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync('systemd')) {
    const text = readFileSync(join('systemd', name), 'utf8')
      .replaceAll('/usr/local/bin/botsync', '/usr/bin/botsync')
      .replaceAll('docs/OPERATIONS.md', '/usr/share/doc/botsync/docs/how-to/debian-package.md');
    writeFileSync(join(to, name), text);
  }
}

function writeCompletions(root) {
  const places = {
    bash: 'usr/share/bash-completion/completions/botsync',
    zsh: 'usr/share/zsh/vendor-completions/_botsync',
  };
  for (const [shell, place] of Object.entries(places)) {
    const env = { ...process.env, SHELL: shell };
    write(root, place, execFileSync(process.execPath, [manifest.bin.botsync, 'completion'], { env }));
  }
}

/** Nothing depends on the umask, or on the modes of a checkout. */
function setModes(root) {
  for (const file of walk(root)) {
    if (file.isLink) continue;
    chmodSync(file.path, file.isDirectory || file.path.endsWith(manifest.bin.botsync) ? 0o755 : 0o644);
  }
  chmodSync(root, 0o755);
}

function writeControl(root) {
  const to = join(root, 'DEBIAN');
  const files = [...walk(root)].filter(({ isDirectory, isLink }) => !isDirectory && !isLink);
  const kilobytes = files.reduce((sum, { path }) => sum + Math.ceil(lstatSync(path).size / 1024), 0);
  mkdirSync(to);
  const fields = {
    Package: manifest.name,
    Version: debianVersion(manifest.version),
    Architecture: architecture,
    Maintainer: MAINTAINER,
    'Installed-Size': kilobytes,
    Depends: [`nodejs (${manifest.engines.node.replace('>=', '>= ')})`, ...NEEDS, MAKES_USERS].join(', '),
    Suggests: 'acl, bash-completion',
    Section: 'net',
    Priority: 'optional',
    Homepage: manifest.homepage.replace(/#.*/u, ''),
    Description: [
      manifest.description.charAt(0).toLowerCase() + manifest.description.slice(1),
      ' botsync uploads new and changed files of a directory to a bot on Botpress',
      ' Cloud, renews files that expire, and reports what is not in sync. It runs',
      ' as a service, by a timer or by hand.',
      ' .',
      ' The service and the timer are installed and not started.',
    ].join('\n'),
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\n`);
  writeFileSync(join(to, 'control'), lines.join(''));
  const configuration = files.filter(({ path }) => relative(root, path).startsWith('etc/'));
  writeFileSync(
    join(to, 'conffiles'),
    configuration.map(({ path }) => `/${relative(root, path)}\n`).join(''),
  );
  const sums = files
    .filter((file) => !configuration.includes(file))
    .map(({ path }) => `${md5(readFileSync(path))}  ${relative(root, path)}\n`);
  writeFileSync(join(to, 'md5sums'), sums.join(''));
  for (const name of ['control', 'conffiles', 'md5sums']) chmodSync(join(to, name), 0o644);
  for (const script of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(TEMPLATES, script), join(to, script));
    chmodSync(join(to, script), 0o755);
  }
  chmodSync(to, 0o755);
}

/** Builds the package from the tree; returns its path. */
function pack(root) {
  mkdirSync(options.output, { recursive: true });
  const file = resolve(
    options.output,
    `${manifest.name}_${debianVersion(manifest.version)}_${architecture}.deb`,
  );
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', root, file], {
    env: { ...process.env, SOURCE_DATE_EPOCH: EPOCH },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return relative('.', file);
}

/** The present time outside a clone. */
function timeOfLastCommit() {
  try {
    return execFileSync('git', ['log', '-1', '--format=%ct'], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return String(Math.floor(Date.now() / 1000));
  }
}

/** A pre-release is older than its release: `1.0.0-rc.1` is `1.0.0~rc.1-1`. */
function debianVersion(version) {
  return `${version.replace('-', '~')}-1`;
}

/** A relative link, as links within a package are to be. */
function link(root, name, target) {
  mkdirSync(join(root, dirname(name)), { recursive: true });
  symlinkSync(relative(dirname(name), target), join(root, name));
}

function write(root, name, content) {
  mkdirSync(join(root, dirname(name)), { recursive: true });
  writeFileSync(join(root, name), content);
}

/** Without a time, so that the same text gives the same bytes. */
function compress(content) {
  return gzipSync(content, { level: 9 });
}

function md5(content) {
  return createHash('md5').update(content).digest('hex');
}

/** Everything below a directory, in one order everywhere. */
function* walk(directory) {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = join(directory, entry.name);
    yield { path, isDirectory: entry.isDirectory(), isLink: entry.isSymbolicLink() };
    if (entry.isDirectory()) yield* walk(path);
  }
}
