#!/usr/bin/env node
// Checks the prerequisites before anything else is loaded: Node prints a stack trace for syntax that it does not
// know, or when a dependency asks for a missing working directory. So this file imports nothing and is built for
// Node 10, as a script: no top-level `await`, no `import` or `export`. See
// docs/decisions/0006-bundle.md.

/** The minimum in `engines` of package.json. */
const OLDEST_NODE = [20, 19] as const;

/** Exit codes of a defect, and of usage or configuration. */
const EXIT_DEFECT = 1;
const EXIT_USAGE = 2;

const obstacle = nodeObstacle(process.versions.node) || directoryObstacle();
if (obstacle === '') import('./start.ts').catch(refuseToLoad);
else refuse(obstacle, EXIT_USAGE);

/** Returns why this Node cannot run botsync, or an empty text. */
function nodeObstacle(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return '';
  return `botsync needs Node ${OLDEST_NODE.join('.')} or newer, and ${process.execPath} is Node ${version}; install a newer one from https://nodejs.org/en/download or, on Debian and Ubuntu, https://github.com/nodesource/distributions`;
}

/** Returns why there is no working directory, or an empty text. */
function directoryObstacle(): string {
  try {
    process.cwd();
    return '';
  } catch (error) {
    const { code } = error as { readonly code?: string };
    return code === 'ENOENT'
      ? 'the working directory was deleted; change to one that exists (cd), then run botsync again'
      : `the working directory cannot be used by this user (${code === undefined ? 'unknown error' : code}); change to another one (cd), then run botsync again`;
  }
}

/** Explains a missing file or package; rethrows everything else as a defect. */
function refuseToLoad(error: unknown): void {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  if (code !== 'ERR_MODULE_NOT_FOUND') throw error;
  refuse(`botsync is not installed completely: ${message}; install it again`, EXIT_DEFECT);
}

/** Ends the command with a message, in the format of other errors. */
function refuse(message: string, exitCode: number): void {
  const asJson = process.argv.indexOf('--json') > 1;
  process.stderr.write(`${asJson ? JSON.stringify({ kind: 'error', exitCode, message }) : message}\n`);
  process.exitCode = exitCode;
}
