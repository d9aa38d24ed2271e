/** Files that are listed at most: the runner takes a megabyte. */
const LISTED = 50;

/** Counts that say something only where they are not 0. */
const ALWAYS = ['uploaded', 'unchanged'];
const COUNTS = [
  'uploaded',
  'adopted',
  'updated',
  'renewed',
  'removed',
  'unchanged',
  'skipped',
  'kept',
  'pending',
  'refused',
  'failed',
  'problems',
  'overwritten',
  'unconfirmed',
];

/** What the page of the run shows of a pass or a dry run, in Markdown. `summary` is `null` where there was none. */
export function summaryPage(summary, items, code, isDryRun) {
  const success = isDryRun ? 'dry run, nothing was sent' : 'in sync';
  const heading = `### botsync: ${code === 0 ? success : `exit code ${code}`}\n\n`;
  if (summary === null) return `${heading}There was no pass; the log of the step says why.\n`;
  const shown = COUNTS.filter((name) => ALWAYS.includes(name) || summary[name] > 0);
  const table = [
    `| ${shown.join(' | ')} |`,
    `|${' --: |'.repeat(shown.length)}`,
    `| ${shown.map((name) => summary[name] ?? 0).join(' | ')} |`,
    '',
  ].join('\n');
  return `${heading}${table}${notInSync(items)}`;
}

/** The files that are not in sync, and why. */
function notInSync(items) {
  const troubled = items.filter(
    ({ kind, outcome }) => outcome === 'failed' || kind === 'refuse' || kind === 'problem',
  );
  if (troubled.length === 0) return '';
  const lines = troubled
    .slice(0, LISTED)
    .map(({ source, path, error, reason }) => `- ${code(`${source}/${path}`)}: ${plain(error ?? reason)}\n`);
  const more = troubled.length > LISTED ? `- and ${troubled.length - LISTED} more\n` : '';
  return `\nNot in sync:\n\n${lines.join('')}${more}`;
}

/** A text as code, which nothing in it can end. */
function code(text) {
  const line = oneLine(text);
  const longest = Math.max(0, ...[...line.matchAll(/`+/gu)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence} ${line} ${fence}`;
}

/** A text in which Markdown and HTML mean nothing. */
function plain(text) {
  return oneLine(text).replace(/[\\`*_{}[\]()#+!|<>~&@]/gu, (character) => `&#${character.charCodeAt(0)};`);
}

function oneLine(text) {
  return String(text ?? '').replace(/[\u0000-\u001f\u007f]/gu, ' ');
}
