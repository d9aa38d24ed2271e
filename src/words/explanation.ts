import type { Verdict } from '../domain/record.ts';
import { escapeControls as shown } from '../domain/escape.ts';
import type { Explanation, PlatformWord } from '../domain/status.ts';
import { placeOf } from './place.ts';

/** Returns an explanation as lines. `isAsked`: the platform is asked for the status of files. */
export function describeExplanation(explanation: Explanation, isAsked: boolean): string[] {
  const { source, path, key, botId, rules, upsert, record, action, reason, fix } = explanation;
  const lines = [
    `File:    ${shown(placeOf(source, path))}`,
    `Key:     ${shown(key)} (bot ${shown(botId)})`,
    `Rules:   ${describeRules(rules)}`,
  ];
  if (record === null) lines.push('Record:  none');
  else {
    lines.push(`Record:  ${describeRecordState(record.state)}, since ${record.changedAt}`);
    if (record.sha256 !== null) lines.push(`         content ${record.sha256} (SHA-256)`);
    if (record.expiresAt !== null) lines.push(`         expires at ${record.expiresAt}`);
    if (record.differs !== null) lines.push(`         ${DIFFERENCE_WORDS[record.differs]}`);
    if (record.failure !== null) lines.push(`         ${shown(record.failure)}`);
    if (record.state === 'synced' && isAsked) lines.push(...describeWord(record.platform));
  }
  if (upsert !== null) {
    const [first = '', ...rest] = JSON.stringify(upsert, null, 2).split('\n');
    lines.push(`Upsert:  ${first}`, ...rest.map((line) => `         ${shown(line)}`));
  }
  lines.push(`A pass:  ${describeAction(action)} (${shown(reason)})`);
  if (fix !== null) lines.push(`Fix:     ${shown(fix)}`);
  return lines;
}

export function describeRules(rules: Explanation['rules']): string {
  if (rules.length === 0) return 'none matches';
  return rules.map(({ rule, match }) => `rules[${rule}] (${match.join(', ')})`).join(', ');
}

/** Describes a recorded state: `synced`, or `synced, removed` for a file that is no longer in its source. */
export function describeRecordState(written: string): string {
  const [state = '', absence] = written.split(', ');
  const known = STATES[state] ?? state;
  return absence === undefined ? known : `${known}; ${ABSENCES[absence] ?? absence}`;
}

const STATES: Readonly<Record<string, string>> = {
  sending: 'being sent, or interrupted while it was sent',
  removing: 'being removed from the platform',
};

const ABSENCES: Readonly<Record<string, string>> = {
  removed: 'deleted here',
  kept: 'no longer synced, and kept on the platform',
  pruned: 'was kept on the platform, and is to be removed there',
  orphan: 'was found on the platform without a record, and is to be removed there',
};

/** Describes the platform's status of the file, and when it was asked. */
function describeWord(word: PlatformWord): string[] {
  const { askedAt, nextAskAt } = word;
  const asked = askedAt === null ? 'not checked yet' : `last checked at ${askedAt}`;
  const next = nextAskAt === null ? '' : `, next check at ${nextAskAt}`;
  return [`Platform: ${describePlatformStatus(word)} (${asked}${next})`];
}

/** Returns the rest of a sentence that begins with "the platform". */
export function describePlatformStatus({ verdict, nextAskAt }: PlatformWord): string {
  return verdict === null && nextAskAt !== null ? 'has not confirmed it yet' : SAID[verdict ?? 'unknown'];
}

const SAID: Readonly<Record<Verdict | 'unknown', string>> = {
  stored: 'has the content',
  searchable: 'has the content, and the bot can search it',
  unsearchable: 'has the content, but the bot cannot search it',
  unknown: 'accepted it; not confirmed (the platform cannot be asked)',
};

export const DIFFERENCE_WORDS: Readonly<
  Record<NonNullable<NonNullable<Explanation['record']>['differs']>, string>
> = {
  content: 'verification found that the platform does not have it as it was sent',
  facts: 'verification found other tags, metadata, policies or expiry on the platform',
  replaced: "verification found somebody else's file under its key",
};

export function describeAction(action: Explanation['action']): string {
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
      return 'skips it';
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
