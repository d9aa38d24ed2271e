import { placeOf } from '../render/place.ts';
import { EXIT } from '../../domain/exit-code.ts';
import type { Verdict } from '../../domain/record.ts';
import { explain as explainFile } from '../../sync/plan/explain.ts';
import { explainUnseen, type Explanation, type PlatformWord } from '../../sync/plan/explanation.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../library/load.ts';
import { locateFile } from '../locate-file.ts';
import { print, shown } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { withStateFile } from '../../library/read-state-file.ts';

/** Options of `botsync explain`. */
export interface ExplainOptions extends GlobalOptions {
  readonly path: string;
}

/** `botsync explain <path>`: one file, from its key to what a pass would do. Returns the exit code; throws `UsageError`. */
export async function explain(options: ExplainOptions): Promise<number> {
  const { config } = load(options);
  const name = platformName(options, config);
  const sources = findSources(config, name);
  const { found, path } = locateFile(options.path, sources);
  const explanation = await withStateFile(config.stateFile, ({ reader: state }) =>
    found.kind === 'missing'
      ? explainUnseen(found, path, { config, state, platformName: name })
      : explainFile(found.source, path, { config, sources, state, nowMs: Date.now() }),
  );
  if (options.json) printJson(explanation);
  else print(describe(explanation, config.platform.operations !== 'specified').join('\n'));
  return EXIT.ok;
}

function describe(explanation: Explanation, isAsked: boolean): string[] {
  const { source, path, key, botId, rules, upsert, record, action, reason } = explanation;
  const lines = [
    `File:    ${shown(placeOf(source, path))}`,
    `Key:     ${shown(key)} (bot ${shown(botId)})`,
    `Rules:   ${rules.length === 0 ? 'none matches' : rules.map(({ rule, match }) => `rules[${rule}] (${match.join(', ')})`).join(', ')}`,
  ];
  if (record === null) lines.push('Record:  none');
  else {
    lines.push(`Record:  ${record.state}, since ${record.changedAt}`);
    if (record.sha256 !== null) lines.push(`         content ${record.sha256} (SHA-256)`);
    if (record.expiresAt !== null) lines.push(`         expires at ${record.expiresAt}`);
    if (record.differs !== null) lines.push(`         ${DIFFERS[record.differs]}`);
    if (record.failure !== null) lines.push(`         ${shown(record.failure)}`);
    if (record.state === 'synced' && isAsked) lines.push(...describeWord(record.platform));
  }
  if (upsert !== null) {
    const [first = '', ...rest] = JSON.stringify(upsert, null, 2).split('\n');
    lines.push(`Upsert:  ${first}`, ...rest.map((line) => `         ${shown(line)}`));
  }
  lines.push(`A pass:  ${describeAction(action)} (${shown(reason)})`);
  return lines;
}

/** What the platform said, and when it was asked. */
function describeWord({ verdict, askedAt, nextAskAt }: PlatformWord): string[] {
  const isWaiting = verdict === null && nextAskAt !== null;
  const said = isWaiting ? 'has not confirmed it yet' : SAID[verdict ?? 'unknown'];
  const asked = askedAt === null ? 'not asked yet' : `asked last at ${askedAt}`;
  const next = nextAskAt === null ? '' : `, asked next at ${nextAskAt}`;
  return [`Platform: ${said} (${asked}${next})`];
}

const SAID: Readonly<Record<Verdict | 'unknown', string>> = {
  stored: 'has the content',
  searchable: 'has the content, and the bot can search it',
  unsearchable: 'has the content, but the bot cannot search it',
  unknown: 'accepted it; not confirmed (the platform cannot be asked)',
};

const DIFFERS: Readonly<Record<NonNullable<NonNullable<Explanation['record']>['differs']>, string>> = {
  content: 'verification found that the platform does not have it as it was sent',
  facts: 'verification found other tags, metadata, policies or expiry on the platform',
  replaced: "verification found somebody else's file under its key",
};

function describeAction(action: Explanation['action']): string {
  switch (action) {
    case 'upload':
      return 'uploads it';
    case 'renew':
      return 'renews it before it expires';
    case 'update':
      return 'changes its settings on the platform, without sending it';
    case 'adopt':
      return 'adopts the file that the platform already has';
    case 'verify':
      return 'checks whether it changed';
    case 'none':
      return 'does nothing';
    case 'skip':
      return 'leaves it out';
    case 'refuse':
      return 'refuses it';
    case 'problem':
      return 'reports it as a problem';
    case 'remove':
      return 'removes it from the platform';
    case 'keep':
      return 'keeps it on the platform';
  }
}
