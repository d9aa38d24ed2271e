import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createChatSite } from './chat-site.ts';
import { launch, POLL, remote } from './running-daemon.ts';

/** What calls for further operations where they may be used: indexing, expiry, tags that change, removals. */
const rules = (lang: string) => [
  { match: ['*.md'], index: true, tags: { lang } },
  { match: ['*.txt'], expiresIn: '1h' },
];

test.each(['expire', 'delete'])(
  'with "specified" no command that syncs makes any other request, with removals by "%s"',
  async (mode) => {
    const site = await createChatSite({ recordRequests: true });
    const configure = (lang: string): void => {
      const removals = { mode, delay: '1s' };
      site.configure({ operations: 'specified' }, { rules: rules(lang), removals });
    };
    configure('en');
    for (const name of ['a.md', 'b.md', 'c.txt', 'd.txt']) site.write(`docs/${name}`, name);
    // Larger than what is hashed before its upsert: its mark would have to be set by an update.
    site.write('docs/large.txt', 'x'.repeat(300_000));
    const commands = [
      ['sync', '--dry-run'],
      ['doctor'],
      ['sync', '--once'],
      ['sync', '--once', '--force', '*.txt'],
      ['status'],
      ['explain', 'docs/a.md'],
      ['ls'],
    ];
    for (const args of commands) {
      const { code, stderr } = await site.botsync(...args);
      expect({ code, stderr: code === 0 ? '' : stderr }, args.join(' ')).toEqual({ code: 0, stderr: '' });
    }
    // Nothing can be compared, which is told.
    expect((await site.botsync('verify')).code).toBe(3);
    configure('de');
    rmSync(join(site.directory, 'docs/b.md'));
    expect((await site.botsync('sync', '--once')).code).toBe(0);
    const daemon = await launch(site);
    site.write('docs/e.md', 'new');
    rmSync(join(site.directory, 'docs/d.txt'));
    await expect.poll(() => remote(site, 'e.md'), POLL).toBe('new');
    await expect.poll(() => remote(site, 'd.txt'), POLL).not.toBe('d.txt');
    daemon.child.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
    const seen = new Set(
      site.emulator.requests.map(({ method, operation, path }) =>
        operation === 'upload' ? `${method} upload` : `${method} ${path}`,
      ),
    );
    expect([...seen].sort()).toEqual(['GET /v1/admin/bots', 'PUT /v1/files', 'PUT upload']);
  },
);
