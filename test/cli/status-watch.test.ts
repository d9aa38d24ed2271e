import { once } from 'node:events';
import { expect, test } from 'vitest';
import { createSite, run, start } from './binary.ts';
import { launch, POLL } from './running-daemon.ts';
import { hasTerminal, openTerminal } from './terminal.ts';

test.runIf(hasTerminal)(
  'status --watch follows a service that comes and goes, and leaves the terminal as it was',
  async () => {
    const site = await createSite();
    site.write('docs/a.md', 'small');
    const shell = ['bash', '-c', '"$@"; code=$?; stty -a; exit $code', 'bash'];
    const terminal = openTerminal(site.directory, ['status', '--watch', '1s'], site.env, shell);
    let screen = '';
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
    const ended = once(terminal, 'close') as Promise<[number | null]>;
    await expect.poll(() => screen, POLL).toContain('no pass has ended yet');
    const daemon = await launch(site);
    await expect.poll(() => screen, POLL).toContain('The service started at');
    await expect.poll(() => screen, POLL).toContain('docs: 1 file in sync');
    await expect.poll(() => new Set(screen.match(/for \d+ s \(/gu)).size, POLL).toBeGreaterThan(2);
    daemon.child.kill('SIGTERM');
    await expect.poll(() => screen, POLL).toContain('NO SERVICE RUNNING, last seen');
    // Keys without a character, such as F2, are passed over.
    terminal.stdin.write('\u001bOQ');
    terminal.stdin.write('q');
    expect((await ended)[0]).toBe(3);
    const [shown = '', after = ''] = screen.split(/(?=speed \d+ baud)/u);
    expect(shown.match(/\u001b\[\?25[hl]/gu)).toEqual(['\u001b[?25l', '\u001b[?25h']);
    expect(shown).not.toContain('\u001b[?1049h');
    expect(after).toMatch(/ icanon.* echo /su);
  },
);

test('status --watch in a pipe needs --json, which prints a document for each change', async () => {
  const site = await createSite();
  site.write('docs/a.md', 'small');
  const refused = await run(site.directory, ['status', '--watch'], site.env);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^--watch needs a terminal; .*--json --watch/u);
  expect((await run(site.directory, ['status', '--watch', '5'], site.env)).stderr).toContain('add a unit');
  expect((await run(site.directory, ['status', '--watch=10ms'], site.env)).stderr).toContain('too short');

  const watch = start(site.directory, ['status', '--json', '--watch', '1s'], site.env);
  let output = '';
  watch.child.stdout?.on('data', (text: string) => (output += text));
  await expect.poll(() => output, POLL).toContain('"inSync":false');
  await site.sync();
  await expect.poll(() => output, POLL).toContain('"inSync":true');
  watch.child.kill('SIGINT');
  const { code, lines } = await watch.ended;
  expect(code).toBe(0);
  const documents = lines().map((line) => JSON.stringify(line));
  expect(new Set(documents).size).toBe(documents.length);
  const single = await run(site.directory, ['status', '--json'], site.env);
  expect(lines().at(-1)).toEqual(single.lines()[0]);
});
