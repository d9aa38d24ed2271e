import { readFileSync } from 'node:fs';

/** `name@version` of every package of others that users get: the production dependencies, and what is in the bundle. */
export function shippedPackages() {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const installed = Object.entries(packages)
    .filter(([path, { dev, link }]) => path !== '' && dev !== true && link !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
  const notices = readFileSync('dist/THIRD-PARTY-LICENSES.txt', 'utf8');
  const bundled = [...notices.matchAll(/^(\S+) (\d+\.\d+\.\d+\S*) \(.+\)$/gmu)].map(
    ([, name, version]) => `${name}@${version}`,
  );
  if (bundled.length === 0) throw new Error('dist/THIRD-PARTY-LICENSES.txt names no package');
  return new Set([...installed, ...bundled]);
}
