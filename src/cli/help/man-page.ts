import { EXIT } from '../../domain/exit-code.ts';
import type { Command } from './command-catalog.ts';
import { optionRows, positionalRow, usageLine, type Row } from './help-text.ts';

/** What the exit codes mean, as README.md has it. */
const EXIT_CODES: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: 'Success, or the service was stopped.',
  defect: 'A defect of botsync. Please report it.',
  usage: 'Usage or configuration. The message says what is wrong, where, and what to write instead.',
  incomplete: 'Finished, but some files are not in sync, or the command failed.',
  credentials: 'The platform refused the credentials, or does not know the bot.',
  halted:
    'A guard halted a source: it is missing, replaced or emptied, or too many of its files were deleted.',
  busy: 'Another botsync uses this state file.',
  interrupted: 'Interrupted by a signal.',
};

const ENVIRONMENT: readonly Row[] = [
  { name: 'BOTSYNC_CONFIG', text: 'The configuration file, unless --config names one.' },
  { name: 'BOTSYNC_TOKEN', text: 'The access token, if the configuration says "env:BOTSYNC_TOKEN".' },
  {
    name: 'HTTPS_PROXY, HTTP_PROXY, NO_PROXY',
    text: 'The proxy to use, and the hosts to reach without a proxy.',
  },
  { name: 'NO_COLOR', text: 'No colours in the output.' },
];

const FILES: readonly Row[] = [
  { name: 'botsync.config.json', text: 'The configuration.' },
  { name: '.botsyncignore', text: 'In the directory of a source: patterns of files to ignore.' },
  {
    name: '.botsync/state.db',
    text: 'Next to the configuration: the records of what was sent. Set by "stateFile".',
  },
];

/** What the page says beside what the command line declares. */
export interface Edition {
  readonly version: string;
  /** Address of the documentation; `null`: there is none on the web. */
  readonly homepage: string | null;
}

/** The man page of botsync in roff, with the macros of man(7): all that help says, of all commands. */
export function manPage(root: Command, { version, homepage }: Edition): string {
  const lines = [
    `.TH BOTSYNC 1 "" ${quoted(`botsync ${version}`)} "User Commands"`,
    '.SH NAME',
    `botsync \\- ${text(summaryOf(root))}`,
    '.SH SYNOPSIS',
    ...leavesOf(root)
      .flatMap((command) => ['.br', `.B ${quoted(usageLine(command))}`])
      .slice(1),
    '.SH DESCRIPTION',
    text(
      'botsync sends files from directories of this machine to the file storage of a chat bot, and keeps that storage up to date.',
    ),
    text('A configuration file says what is sent and how; botsync init writes one.'),
    text(
      'Without --once, botsync sync runs until a signal ends it. Files are deleted on the platform only if the configuration says so.',
    ),
    '.SH COMMANDS',
    ...leavesOf(root).flatMap(describe),
    '.SH "GLOBAL OPTIONS"',
    ...list(optionRows(root.options)),
    '.SH "EXIT STATUS"',
    ...list(
      Object.entries(EXIT).map(([name, code]) => ({
        name: String(code),
        text: EXIT_CODES[name as keyof typeof EXIT],
      })),
    ),
    '.SH ENVIRONMENT',
    ...list(ENVIRONMENT),
    '.SH FILES',
    ...list(FILES),
    '.SH EXAMPLES',
    ...examples(root).slice(1),
    '.SH "SEE ALSO"',
    text(homepage ?? 'The documentation is in the directory docs of the installed package.'),
  ];
  return `${lines.join('\n')}\n`;
}

/** What botsync does, as the index of manual pages has it. */
function summaryOf({ description }: Command): string {
  return `${description.charAt(0).toLowerCase()}${description.slice(1).replace(/\.$/u, '')}`;
}

/** The commands that do something, in their order. */
function leavesOf({ commands }: Command): Command[] {
  return commands.flatMap((command) => (command.commands.length === 0 ? [command] : leavesOf(command)));
}

function describe(command: Command): string[] {
  return [
    `.SS ${quoted(usageLine(command))}`,
    `${text(command.description)}.`,
    ...list([...command.positionals.map(positionalRow), ...optionRows(command.options)]),
    ...examples(command),
  ];
}

function list(rows: readonly Row[]): string[] {
  return rows.flatMap(({ name, text: meaning }) => ['.TP', `.B ${quoted(name.trim())}`, text(meaning)]);
}

function examples({ examples: all }: Command): string[] {
  return all.flatMap(({ command, description }) => [
    '.PP',
    `${text(description)}:`,
    '.PP',
    '.RS 4',
    '.EX',
    text(command),
    '.EE',
    '.RE',
  ]);
}

/** An argument of a macro. */
function quoted(words: string): string {
  return `"${escape(words).replaceAll('"', '""')}"`;
}

/** A line of text: one that begins like a macro is none. */
function text(words: string): string {
  return escape(words).replace(/^(?=[.'])/u, '\\&');
}

/** A plain hyphen becomes one of typography unless it is escaped, which nobody can paste. */
function escape(words: string): string {
  return words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll("'", '\\(aq')
    .replaceAll('`', '\\(ga');
}
