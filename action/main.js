// The GitHub Action: installs botsync, makes one pass, and tells the workflow how it went. It uses what Node has and nothing
// else, since a runner takes this directory as it is in the repository. docs/how-to/github-actions.md
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, statSync } from 'node:fs';
import { findBotsync } from './install.js';
import { summaryPage } from './summary-page.js';
import { splitWords } from './words.js';

try {
  process.exitCode = await act(process.env);
} catch (error) {
  annotate(error.message);
  process.exitCode = 1;
}

/** Makes the pass that the inputs ask for; returns the exit code of botsync. Throws an `Error` for the user. */
async function act(env) {
  const { INPUT_TOKEN: token = '', ...others } = env;
  const config = env.INPUT_CONFIG || 'botsync.config.json';
  const directory = env['INPUT_WORKING-DIRECTORY'] || '.';
  if (token === '')
    throw new Error('The input "token" is empty: is the secret set, and may this workflow read it?');
  const { words, problem } = splitWords(env.INPUT_ARGUMENTS ?? '');
  if (problem !== null) throw new Error(`The input "arguments" cannot be read: ${problem}`);
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`The input "working-directory" names no directory of the workspace: ${directory}`);
  const command = findBotsync(env);
  const childEnv = { ...others, BOTSYNC_TOKEN: token };
  // A dry run is made in place of a pass: botsync takes one of the two.
  const isDryRun = words.includes('--dry-run') || words.includes('--dry-run=true');
  const args = [command, 'sync', ...(isDryRun ? [] : ['--once']), '--json', '--config', config, ...words];
  const { code, items } = await run(args, childEnv, directory);
  const summary = items.find(({ kind }) => kind === 'summary') ?? null;
  tell(env.GITHUB_OUTPUT, outputs(summary, code));
  tell(env.GITHUB_STEP_SUMMARY, summaryPage(summary, items, code, isDryRun));
  if (code !== 0) annotate(`botsync ended with exit code ${code}: the log of this step says why`);
  return code;
}

/**
 * Runs botsync; returns its exit code and what it printed, line by line. Its messages name files, whose names anybody may
 * have chosen: the runner is told to take no commands from them. All goes through one stream, as the runner reads two
 * independently, and might find a line of the other after the end of this.
 */
async function run(args, env, directory) {
  const end = randomUUID();
  process.stdout.write(`::stop-commands::${end}\n`);
  try {
    const child = spawn(process.execPath, args, {
      ...{ cwd: directory, env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part) => {
      text += part;
      process.stdout.write(part);
    });
    child.stderr.on('data', (part) => process.stdout.write(part));
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (status) => resolve(status ?? 130));
    });
    return { code, items: text.split('\n').flatMap(parsed) };
  } finally {
    process.stdout.write(`\n::${end}::\n`);
  }
}

/** The object in a line; none in a line that is not JSON, such as the help that `--help` asks for. */
function parsed(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null ? [value] : [];
  } catch {
    return [];
  }
}

/** The outputs in the form that the runner reads: each in a line of its own, as none holds a line break. */
function outputs(summary, code) {
  return [
    `summary=${summary === null ? '' : JSON.stringify(summary)}`,
    `exit-code=${code}`,
    `in-sync=${code === 0}`,
    '',
  ].join('\n');
}

/** Appends to a file that the runner reads; outside a runner there is none. */
function tell(file, text) {
  if (file !== undefined && file !== '') appendFileSync(file, text);
}

/** An error that the runner shows on the page of the run. */
function annotate(message) {
  const safe = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  process.stdout.write(`::error title=botsync::${safe}\n`);
}
