import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');

/**
 * The path of the command, in the version of this action: what was built here, as in the project's own workflows, else what
 * npm installs into the runner's temporary directory. Throws an `Error` for the user.
 */
export function findBotsync(env) {
  const { name, version, bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const built = join(ROOT, bin.botsync);
  if (existsSync(built)) return built;
  const directory = env.RUNNER_TEMP ?? mkdtempSync(join(tmpdir(), 'botsync-'));
  const place = join(directory, `${name}-${version}`);
  const installed = join(place, 'node_modules', name, bin.botsync);
  // An earlier step of the same job may have.
  if (existsSync(installed)) return installed;
  mkdirSync(place, { recursive: true });
  const others = { ...env };
  delete others.INPUT_TOKEN;
  try {
    execFileSync(
      'npm',
      [
        'install',
        '--prefix',
        place,
        '--no-save',
        '--no-audit',
        '--no-fund',
        '--ignore-scripts',
        `${name}@${version}`,
      ],
      { cwd: place, env: others, stdio: ['ignore', 'ignore', 'inherit'] },
    );
  } catch {
    throw new Error(`${name} ${version} could not be installed: npm says above why`);
  }
  return installed;
}
