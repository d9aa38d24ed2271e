import { createHash } from 'node:crypto';
import type { Target } from '../../cluster/ledger.ts';
import type { Config } from '../../config/config.ts';
import { canonicalJson } from '../../domain/json.ts';
import { conversationBot } from '../platform/clients.ts';

/** So much of a digest tells the places apart where people are told. */
const DIGEST_DIGITS = 8;

/**
 * The unit without sources whose holder tells people, for all hosts that tell them in the same place; `null`: this host tells
 * nobody.
 */
export function notificationUnit(
  config: Config,
  platformName: string,
): { readonly name: string; readonly at: Omit<Target, 'id'> } | null {
  const { notify, platform } = config;
  if (notify === null) return null;
  const { place } = notify;
  // A conversation that is there is the same one whichever bot a host keeps.
  const [botId, identity] =
    place.kind === 'existing' ? ['', {}] : [conversationBot(config), { ...platform.identity }];
  const digest = createHash('sha256')
    .update(canonicalJson({ ...place }))
    .digest('hex');
  return {
    name: `notifications (${digest.slice(0, DIGEST_DIGITS)})`,
    at: { baseUrl: platformName, botId, identity: canonicalJson(identity) },
  };
}
