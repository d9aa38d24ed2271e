// What a machine needs to run the command, as a tree of files: the bundle, its dependencies and nothing of what built it.
// The Debian package and the container image hold it. Run alone it writes such a tree:
//   node scripts/shipped-tree.js DIRECTORY [x64|arm64]
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Prebuilt binaries are for glibc, which Debian and the images based on it have. */
const BINDING = '@photostructure+sqlite.glibc.node';

/** What a dependency is loaded from, and its licence. */
const CODE = /\.(?:[cm]?js|json)$/u;
const LICENCE = /^(?:licen[cs]e|copying)/iu;
const README = /^readme(?:\.md)?$/iu;
const LICENCE_HEADING = /^#+ *licen[cs]e\s*$/imu;
/** Code that is there for those who work on the dependency. */
const NOT_LOADED =
  /(?:^|\/)(?:\.[^/]*|(?:tests?|bench(?:mark)?s?|examples?|build|docs?|fixtures?|types|help|scripts)(?:\.js)?|(?:tsconfig|package-lock)\.json|eslint\.config\.\w+|[^/]*\.test\.[cm]?js|test-\w+\.js|bin\.js|build-test\.js|optional\.js)(?:\/|$)/u;

/** Packages that only compile the binding, which comes compiled. */
const COMPILE_ONLY = new Set(['node-addon-api']);

/**
 * The packages that the command loads at run time, from the lock file: each with its directory below the root, its name,
 * version and licence.
 */
export function runtimePackages() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true)
    .map(([path, { version, license }]) => ({
      path,
      name: path.slice(path.lastIndexOf('node_modules/') + 13),
      version,
      license,
    }))
    .filter(({ name }) => !COMPILE_ONLY.has(name));
}

/**
 * The licence text of an installed package: of its file, else the last section of its README, if that is the licence.
 * Throws where it has none: it could not be passed on.
 */
export function licenceText(directory) {
  const files = readdirSync(directory);
  const file = files.find((entry) => LICENCE.test(entry));
  if (file !== undefined) return readFileSync(join(directory, file), 'utf8').trim();
  const readme = files.find((entry) => README.test(entry));
  const text = readme === undefined ? '' : readFileSync(join(directory, readme), 'utf8');
  const section = text.split(LICENCE_HEADING).slice(1).pop() ?? '';
  if (!section.includes('Copyright')) throw new Error(`${directory} has no licence text`);
  return section.trim();
}

/**
 * Writes the tree into a directory, which is made: `package.json`, `LICENSE`,
 * `config.schema.json`, `dist/`, `node_modules/`. It runs
 * on Linux with glibc, on one architecture as Node names it: `x64` or `arm64`. Throws before a build.
 */
export function writeShippedTree(directory, architecture) {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
  const command = manifest.bin.botsync;
  if (!existsSync(command)) throw new Error(`${command} is missing: npm run build`);
  mkdirSync(directory, { recursive: true });
  const { name, version, description, license, type, bin, engines, dependencies, homepage, bugs } = manifest;
  const kept = { name, version, description, license, type, bin, engines, dependencies, homepage, bugs };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(kept, null, 2)}\n`);
  for (const file of ['LICENSE', 'config.schema.json']) cpSync(file, join(directory, file));
  // The bill of materials, with the time of its making within, is published beside the packages; nobody imports the
  // library from here.
  cpSync('dist', join(directory, 'dist'), {
    recursive: true,
    filter: (file) => ![join('dist', 'sbom.cdx.json'), join('dist', 'library')].includes(file),
  });
  for (const { path } of runtimePackages()) copyPackage(path, join(directory, path));
  placeBinding(directory, architecture);
}

function copyPackage(from, to) {
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (file) => {
      const inner = file.slice(from.length + 1);
      if (inner === '') return true;
      if (/^(?:node_modules|prebuilds)(?:\/|$)/u.test(inner) || NOT_LOADED.test(inner)) return false;
      return lstatSync(file).isDirectory() || CODE.test(inner) || LICENCE.test(inner);
    },
  });
  // READMEs stay behind, and with them the licence of those that have it nowhere else.
  if (!readdirSync(to).some((entry) => LICENCE.test(entry)))
    writeFileSync(join(to, 'LICENSE'), `${licenceText(from)}\n`);
}

/** Leaves of the binding's package what runs: its JavaScript and one binary. */
function placeBinding(directory, architecture) {
  const place = 'node_modules/@photostructure/sqlite';
  for (const sources of ['src', 'scripts'])
    rmSync(join(directory, place, sources), { recursive: true, force: true });
  const binary = join(place, 'prebuilds', `linux-${architecture}`, BINDING);
  if (!existsSync(binary)) throw new Error(`there is no prebuilt binary for ${architecture}: ${binary}`);
  mkdirSync(dirname(join(directory, binary)), { recursive: true });
  cpSync(binary, join(directory, binary), { dereference: true });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [directory, architecture] = process.argv.slice(2);
  if (directory === undefined) throw new Error('usage: node scripts/shipped-tree.js DIRECTORY [x64|arm64]');
  writeShippedTree(
    directory,
    architecture === undefined || architecture === '' ? process.arch : architecture,
  );
}
