import { checkExpiry } from '../domain/expiry.ts';
import { describeExpiryFault } from './expiry-faults.ts';
import { MARK_NAME } from '../domain/mark.ts';
import type { RuleDraft } from './draft.ts';
import { formatDuration } from './duration.ts';
import { error, warning, type Finding, quote } from './problem.ts';

/** Finds what is wrong between the fields of a rule, or between rules. */
export function checkRules(rules: readonly RuleDraft[]): Finding[] {
  return rules.flatMap((rule, position) => [
    ...checkPatterns(rule, position),
    ...checkRuleExpiry(rule, position),
    ...checkPublicContent(rule, position, rules),
    ...checkKnowledgeBase(rule, position, rules),
    ...checkMark(rule, position),
  ]);
}

function checkMark({ metadata }: RuleDraft, position: number): Finding[] {
  if (!Object.hasOwn(metadata ?? {}, MARK_NAME)) return [];
  const message = "is reserved for botsync's mark; use another name";
  return [error(['rules', position, 'metadata', MARK_NAME], message)];
}

function checkPatterns({ match = [] }: RuleDraft, position: number): Finding[] {
  return match.flatMap((pattern, index) => {
    if (!/^!(?!\()/u.test(pattern)) return [];
    const path = ['rules', position, 'match', ...(match.length > 1 ? [index] : [])];
    const fix = 'later rules win, so write a rule for all files and after it one for the exceptions';
    if (!pattern.includes('/')) {
      return [
        warning(path, `${quote(pattern)} matches names that begin with "!", and excludes nothing; ${fix}`),
      ];
    }
    if (match.length === 1) return [];
    return [
      warning(path, `one matching pattern is enough, so ${quote(pattern)} adds every other file; ${fix}`),
    ];
  });
}

function checkRuleExpiry(rule: RuleDraft, position: number): Finding[] {
  const { expiresIn, expiresAt, renew, renewBefore } = rule;
  const at = (field: string): (string | number)[] => ['rules', position, field];
  if (expiresIn !== undefined && expiresAt !== undefined) {
    return [error(at('expiresAt'), 'cannot be combined with expiresIn in one rule')];
  }
  const findings: Finding[] = [];
  if (typeof expiresAt === 'number') {
    for (const field of ['renew', 'renewBefore'] as const) {
      if (rule[field] === undefined || rule[field] === null) continue;
      const message = 'has no effect with expiresAt; remove it, or write expiresIn';
      findings.push(error(at(field), message));
    }
  }
  if (typeof expiresIn === 'number') {
    // The time does not matter for a lifetime.
    const check = checkExpiry({ kind: 'in', lifetimeMs: expiresIn, renewal: null }, 0);
    if (check.kind === 'out-of-range') {
      findings.push(
        error(at('expiresIn'), `${quote(formatDuration(expiresIn))}: ${describeExpiryFault(check.fault)}`),
      );
    }
    if (typeof renewBefore === 'number' && renewBefore >= expiresIn) {
      const message = `is not shorter than expiresIn (${formatDuration(expiresIn)}); write at most half of it, "${formatDuration(expiresIn / 2)}"`;
      findings.push(error(at('renewBefore'), message));
    }
    if (typeof renewBefore === 'number' && renew === false) {
      findings.push(warning(at('renewBefore'), 'has no effect with "renew": false'));
    }
  }
  return findings;
}

function checkPublicContent(rule: RuleDraft, position: number, rules: readonly RuleDraft[]): Finding[] {
  if (rule.publicContentImmediatelyAccessible !== true) return [];
  if (rules.some(({ accessPolicies }) => accessPolicies?.includes('public_content') === true)) return [];
  return [
    warning(
      ['rules', position, 'publicContentImmediatelyAccessible'],
      'needs "public_content" in accessPolicies, and no rule gives it: these files would be refused',
    ),
  ];
}

/** platform-facts.md, Files: a knowledge base file without an index hangs the platform's web studio. */
function checkKnowledgeBase(rule: RuleDraft, position: number, rules: readonly RuleDraft[]): Finding[] {
  if (rule.tags?.['source'] !== 'knowledge-base' || rule.index === true) return [];
  const isIndexed = rules.some((other) => other.index === true && covers(other, rule));
  if (isIndexed && rule.index === undefined) return [];
  return [
    warning(
      ['rules', position, 'tags', 'source'],
      `a knowledge base file needs "index": true; without it the platform's web studio hangs loading the knowledge base`,
    ),
  ];
}

/** Returns whether a rule certainly applies to every file of another; `false` if that is not easy to determine. */
function covers(rule: RuleDraft, other: RuleDraft): boolean {
  const { match = [], source } = rule;
  const coversSources =
    source === undefined || (other.source?.every((name) => source.includes(name)) ?? false);
  const coversFiles =
    match.some((pattern) => pattern === '**' || pattern === '*') ||
    (other.match?.every((pattern) => match.includes(pattern)) ?? false);
  return coversSources && coversFiles;
}
