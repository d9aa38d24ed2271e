// Writes the bill of materials (CycloneDX) of what users get, the bundled packages included, to dist/sbom.cdx.json, which
// goes into the package: `npm run sbom`, after a build.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { shippedPackages } from './shipped-packages.js';

const shipped = shippedPackages();
const sbom = JSON.parse(
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
);
// npm calls it after the directory it stands in.
sbom.metadata.component.name = JSON.parse(readFileSync('package.json', 'utf8')).name;
const root = sbom.metadata.component['bom-ref'];
const isShipped = (name, version) => shipped.has(`${name}@${version}`);
const components = sbom.components.filter(({ name, version }) => isShipped(name, version));
const missing = [...shipped].filter(
  (one) => !components.some(({ name, version }) => `${name}@${version}` === one),
);
if (missing.length > 0) throw new Error(`not in the bill of materials: ${missing.join(', ')}`);

const refs = new Set([root, ...components.map((component) => component['bom-ref'])]);
const dependencies = sbom.dependencies
  .filter(({ ref }) => refs.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
const scoped = components.map((component) => ({ ...component, scope: 'required' }));
writeFileSync(
  'dist/sbom.cdx.json',
  `${JSON.stringify({ ...sbom, components: scoped, dependencies }, null, 2)}\n`,
);
