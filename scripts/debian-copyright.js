import { readFileSync } from 'node:fs';
import { licenceText, runtimePackages } from './shipped-tree.js';

/**
 * The copyright file of the Debian package: our licence, and name, version, licence and its text of everything that is
 * shipped: the dependencies, and what the bundle was made of. Throws where a text is missing.
 */
export function copyrightText() {
  const { homepage } = JSON.parse(readFileSync('package.json', 'utf8'));
  const dependencies = runtimePackages().map(
    ({ path, name, version, license }) => `${name} ${version} (${license})\n\n${licenceText(path)}\n`,
  );
  const rule = `\n${'-'.repeat(80)}\n\n`;
  const bundled = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8');
  for (const part of bundled.split(rule))
    if (part.split('\n').slice(1).join('').trim() === '') throw new Error(`no licence text: ${part.trim()}`);
  return `botsync: ${homepage.replace(/#.*/u, '')}

${readFileSync('LICENSE', 'utf8').trim()}

${'='.repeat(80)}

It is shipped with the following packages of others, in /usr/lib/botsync/node_modules. The
binding of @photostructure/sqlite contains SQLite, which is in the public domain
(https://sqlite.org/copyright.html).

${dependencies.join(rule)}
${'='.repeat(80)}

The files in /usr/lib/botsync/dist/cli contain code of the following packages.

${bundled}`;
}
