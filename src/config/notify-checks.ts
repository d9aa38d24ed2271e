import { valueAt } from './describe-issue.ts';
import type { ConfigDraft } from './draft.ts';
import { error, warning, type Finding } from './problem.ts';

const EXAMPLE = '"conversation": { "channel": "channel", "tags": { "topic": "botsync" } }';

/** What is wrong between the fields of `notify`, or between them and the rules. */
export function checkNotify(value: unknown, { notify, rules }: ConfigDraft): Finding[] {
  if (valueAt(value, ['notify']) === undefined) return [];
  const isWritten = (field: string): boolean => valueAt(value, ['notify', field]) !== undefined;
  const findings: Finding[] = [];
  if (isWritten('conversationId') && isWritten('conversation')) {
    const message = 'stands beside conversation; people are told in one of the two, so remove the other';
    findings.push(error(['notify', 'conversationId'], message));
  }
  if (!isWritten('conversationId') && !isWritten('conversation')) {
    const message = `is missing, and people have to be told somewhere; write the id, or ${EXAMPLE}`;
    findings.push(error(['notify', 'conversationId'], message, 'absence'));
  }
  const { announce = [], on } = notify;
  if (announce.length > 0 && !rules.some(givesPublicContent)) {
    const message =
      'nobody could hear these files, since no rule gives "public_content"; write a rule for them with "accessPolicies": ["public_content"]';
    findings.push(error(['notify', 'announce'], message));
  }
  if (announce.length === 0 && on?.length === 0)
    findings.push(warning(['notify', 'on'], 'is empty, so nobody is ever told anything'));
  return findings;
}

function givesPublicContent({ accessPolicies }: ConfigDraft['rules'][number]): boolean {
  return accessPolicies?.includes('public_content') === true;
}
