import { expect, test } from 'vitest';
import { commandCatalog } from '../../src/cli/command-line.ts';
import { complete } from '../../src/cli/help/completions.ts';

const CATALOG = commandCatalog();

/** What a line may go on with, the last word being typed. */
function candidates(...words: string[]): string[] {
  const { completions } = complete(words, CATALOG);
  return completions.kind === 'words' ? completions.candidates.map(({ word }) => word) : [completions.kind];
}

const COMMANDS = [
  'sync',
  'status',
  'explain',
  'emulator',
  'bots',
  'integration',
  'conversation',
  'message',
  'help',
];

test.each<[string[], string[], string[]]>([
  [[''], COMMANDS, ['create', '--once', 'files']],
  [['conversation', ''], ['create'], COMMANDS],
  [['help', ''], COMMANDS, ['create']],
  [['help', 'conversation', ''], ['create'], COMMANDS],
  [['sync', '--log-level', ''], ['trace', 'silent'], COMMANDS],
  [['sync', '--log-level=d'], ['debug'], ['--log-level=debug', 'trace']],
  [['message', 'send', '--'], ['--text', '--audio-url', '--payload', '--json'], COMMANDS],
  [['sync', '--force', 'a', '--force', 'b', '--'], ['--once'], ['--force', ...COMMANDS]],
  [['emulator', '--bot', 'a', '--'], ['--bot', '--port'], ['--once']],
  [['sync', ''], ['--once', '--config'], COMMANDS],
  [['sync', '-c', 'a.json', '--'], ['--once'], ['--config']],
  [['-c', 'sync', ''], COMMANDS, ['--once']],
  [['message', 'send', '--text', ''], [], COMMANDS],
  [['sync', '-c', ''], ['files'], COMMANDS],
  [['--config=b'], ['files'], []],
  [['explain', ''], ['files'], COMMANDS],
  [['explain', '--json', 'docs/'], ['files'], COMMANDS],
  [['explain', '--', ''], ['files'], COMMANDS],
  [['explain', '--', '--'], ['files'], ['--json']],
  [['passages', ''], ['files'], []],
  [['message', 'send', '--payload', ''], ['files'], []],
  [['init', '--directory', ''], ['directories'], []],
  [['emulator', '--data', 'a'], ['directories'], []],
  [['approve', ''], ['sources'], []],
  [['search', '--source', ''], ['sources'], []],
  [['completion', ''], ['bash', 'zsh', 'fish'], []],
  [['sync', '--nonsense', ''], ['--once'], COMMANDS],
  [['nonsense', ''], [], COMMANDS],
])('completions of %j', (words, expected, others) => {
  const offered = candidates(...words);
  expect(offered).toEqual(expect.arrayContaining(expected));
  if (expected.length === 0) expect(offered).toEqual([]);
  for (const other of others) expect(offered).not.toContain(other);
});
