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
    const message = 'cannot be combined with conversation; remove one of them';
    findings.push(error(['notify', 'conversationId'], message));
  }
  if (!isWritten('conversationId') && !isWritten('conversation')) {
    const message = `is missing; write the id of a conversation, or ${EXAMPLE}`;
    findings.push(error(['notify', 'conversationId'], message, 'absence'));
  }
  const { announce = [], on } = notify;
  if (announce.length > 0 && !rules.some(givesPublicContent)) {
    const message =
      'these files would not be accessible, because no rule gives "public_content"; write a rule for them with "accessPolicies": ["public_content"]';
    findings.push(error(['notify', 'announce'], message));
  }
  if (announce.length === 0 && on?.length === 0)
    findings.push(warning(['notify', 'on'], 'is empty, so no notification is ever sent'));
  return findings;
}

function givesPublicContent({ accessPolicies }: ConfigDraft['rules'][number]): boolean {
  return accessPolicies?.includes('public_content') === true;
}
