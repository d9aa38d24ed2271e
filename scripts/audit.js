// Fails when a package that users get has a known vulnerability: `npm run check:audit`, after a build. `npm audit
// --omit=dev` alone would not do, since most of what is shipped is bundled and stands among the devDependencies.
import { spawnSync } from 'node:child_process';
import { shippedPackages } from './shipped-packages.js';

const { stdout, stderr } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' });
const report = JSON.parse(stdout || '{}');
if (report.vulnerabilities === undefined) {
  console.error(`The registry gives no audit: ${report.message ?? report.error?.summary ?? stderr.trim()}`);
  process.exit(2);
}
const shipped = new Set([...shippedPackages()].map((one) => one.slice(0, one.lastIndexOf('@'))));
const found = Object.values(report.vulnerabilities).filter(({ name }) => shipped.has(name));
for (const { name, severity, via } of found) {
  const titles = via.flatMap((one) => (typeof one === 'string' ? [] : [`${one.title} (${one.url})`]));
  console.error([`${name}: ${severity}`, ...titles].join('\n  '));
}
console.log(`${shipped.size} packages are shipped, ${found.length} of them with known vulnerabilities`);
process.exitCode = found.length === 0 ? 0 : 1;
