/**
 * Makes docs/images/terminal.svg, the picture of the README, from a real run of the built command in a terminal (tmux)
 * against the local platform: node scripts/terminal-picture.js
 */
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = resolve(import.meta.dirname, '..');
const OUT = join(ROOT, 'docs/images/terminal.svg');
const COLUMNS = 96;
const ROWS = 30;
/** The prompt at the end of the screen. */
const PROMPT = /(?:^|\n)\$ ?\n*$/u;
/** What is waited for on the screen comes within this, or something is wrong. */
const PATIENCE_MS = 30_000;
/** Slow enough that the large file is seen on its way. */
const BYTES_PER_SECOND = 8_000_000;
const LARGE_FILE_BYTES = 60_000_000;

const directory = mkdtempSync(join(tmpdir(), 'botsync-picture-'));
const tmux = (...args) =>
  execFileSync('tmux', ['-L', `botsync-picture-${process.pid}`, '-f', '/dev/null', ...args], {
    encoding: 'utf8',
  });

/** Starts a local platform; resolves to its process and what it prints. */
async function startPlatform() {
  const args = ['emulator', '--port', '0', '--json', '--data', join(directory, 'platform')];
  const child = spawn(process.execPath, [join(ROOT, 'dist/cli/main.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await child.stdout.setEncoding('utf8').take(1).toArray();
  return { child, platform: JSON.parse(line) };
}

/** A directory as a user has it: some documents, a large file, a configuration. */
function makeSite({ baseUrl, bots }) {
  cpSync(join(ROOT, 'examples'), join(directory, 'docs'), { recursive: true });
  writeFileSync(join(directory, 'docs/media/tour.mp4'), Buffer.alloc(LARGE_FILE_BYTES, 'tour'));
  const config = {
    platform: { baseUrl, botId: bots[0].id, token: 'env:BOTSYNC_TOKEN' },
    sources: [{ directory: './docs' }],
    rules: [{ match: ['*.md', '*.html', '*.pdf'], index: true }],
    upload: { maxBytesPerSecond: BYTES_PER_SECOND },
  };
  writeFileSync(join(directory, 'botsync.config.json'), JSON.stringify(config, null, 2));
  mkdirSync(join(directory, 'bin'));
  symlinkSync(join(ROOT, 'dist/cli/main.js'), join(directory, 'bin/botsync'));
}

function openTerminal({ token }) {
  const environment = {
    PATH: `${join(directory, 'bin')}:${process.env.PATH}`,
    BOTSYNC_TOKEN: token,
    PS1: '$ ',
    TERM: 'screen-256color',
    LANG: 'C.UTF-8',
  };
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  const shell = ['env', '-u', 'NO_COLOR', ...variables, 'bash', '--norc', '--noprofile'];
  tmux('-u', 'new-session', '-d', '-x', String(COLUMNS), '-y', String(ROWS), '-c', directory, ...shell);
}

const type = (text) => tmux('send-keys', '-l', text);
const press = (key) => tmux('send-keys', key);

/** The screen once it matches, with its colours. */
async function screen(pattern) {
  for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 100) {
    if (pattern.test(tmux('capture-pane', '-p'))) return tmux('capture-pane', '-p', '-e').trimEnd();
    await sleep(100);
  }
  throw new Error(`the terminal never showed ${pattern}:\n${tmux('capture-pane', '-p')}`);
}

/** What a user sees: a first pass on its way; then the service, a change, a deletion, the end, and the status. */
async function play() {
  await screen(PROMPT);
  type('botsync sync --once');
  press('Enter');
  await screen(/\d ?%/u);
  await sleep(4000);
  const sending = await screen(/\d ?%/u);
  await screen(PROMPT);
  type('clear; botsync sync');
  press('Enter');
  await screen(/for changes/u);
  appendFileSync(join(directory, 'docs/welcome.md'), 'We are open on Sundays.\n');
  rmSync(join(directory, 'docs/guides/prices.html'));
  await screen(/welcome\.md/u);
  // The platform's confirmation comes a second after the last byte.
  await sleep(4000);
  press('C-c');
  await screen(PROMPT);
  type('botsync status');
  press('Enter');
  await screen(/Last full pass:/u);
  return [sending, (await screen(PROMPT)).replace(/\n\$ ?$/u, '')];
}

/** Colours by number; 0 to 15. */
const PALETTE = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];
const FOREGROUND = '#e6edf3';
const BACKGROUND = '#0d1117';
const CELL = { width: 8.4, height: 19 };
const MARGIN = 16;

/** The style after a sequence of `ESC [ … m`. */
function restyled(style, codes) {
  const next = { ...style };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at];
    if (code === 0) Object.assign(next, { colour: null, bold: false, dim: false });
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 22) Object.assign(next, { bold: false, dim: false });
    else if (code === 39) next.colour = null;
    else if (code === 38 && codes[at + 1] === 5) next.colour = PALETTE[codes[(at += 2)]] ?? null;
    else if (code >= 30 && code <= 37) next.colour = PALETTE[code - 30];
    else if (code >= 90 && code <= 97) next.colour = PALETTE[code - 82];
  }
  return next;
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** One row of a screen at a height; the style goes on in the next. */
function drawRow(row, y, style) {
  let column = 0;
  let drawn = '';
  for (const part of row.split(/(\u001b\[[\d;]*m)/u)) {
    const codes = /^\u001b\[([\d;]*)m$/u.exec(part)?.[1];
    if (codes !== undefined) {
      style = restyled(style, codes.split(';').map(Number));
      continue;
    }
    const cells = [...part].length;
    const text = part.trim();
    if (text !== '') {
      const look = `fill="${style.colour ?? FOREGROUND}"${style.bold ? ' font-weight="bold"' : ''}${style.dim ? ' opacity="0.6"' : ''}`;
      const length = `textLength="${([...text].length * CELL.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
      const x = (MARGIN + (column + part.indexOf(text[0])) * CELL.width).toFixed(1);
      drawn += `<text x="${x}" y="${y}" ${length} ${look}>${escaped(text)}</text>\n`;
    }
    column += cells;
  }
  return { drawn, style };
}

/** The screens below each other. */
function drawScreens(screens) {
  const rule = '\u001b[90m' + '─'.repeat(COLUMNS) + '\u001b[0m';
  const rows = screens.flatMap((text, at) => [...(at === 0 ? [] : [rule]), ...text.split('\n')]);
  let style = { colour: null, bold: false, dim: false };
  let body = '';
  rows.forEach((row, at) => {
    const drawn = drawRow(row, MARGIN + 14 + at * CELL.height, style);
    body += drawn.drawn;
    style = drawn.style;
  });
  const width = Math.ceil(COLUMNS * CELL.width + 2 * MARGIN);
  const height = rows.length * CELL.height + 2 * MARGIN;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14" style="white-space: pre">
<title>botsync in a terminal</title>
<rect width="${width}" height="${height}" rx="8" fill="${BACKGROUND}"/>
${body}</svg>
`;
}

const { child, platform } = await startPlatform();
try {
  makeSite(platform);
  openTerminal(platform);
  const picture = drawScreens(await play());
  mkdirSync(join(ROOT, 'docs/images'), { recursive: true });
  writeFileSync(OUT, picture);
  console.log(`${OUT} is written`);
} finally {
  try {
    // A service that is still running takes the end of its terminal for a reload.
    press('C-c');
    press('C-c');
    await sleep(1000);
    tmux('kill-server');
  } catch {
    // It never started.
  }
  child.kill();
  rmSync(directory, { recursive: true, force: true });
}
