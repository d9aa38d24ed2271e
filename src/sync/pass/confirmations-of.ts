import { targetOf } from '../sources/source.ts';
import { Confirmations } from './confirmations.ts';
import type { SyncContext } from './sync-context.ts';

/** What asks, under a context, the status of the files that were sent; `null`: the platform is not asked. */
export function confirmationsOf(context: Omit<SyncContext, 'confirmations'>): Confirmations | null {
  const { config, platformName, state, catalog, clock, report, flights, platform, breaker, stop, onWord } =
    context;
  if (catalog === null) return null;
  const bots = new Map(
    config.sources.map((source) => {
      const target = state.targetId(targetOf(config, source, platformName));
      return [target, { target, botId: source.botId }];
    }),
  );
  return new Confirmations({
    state,
    catalog,
    clock,
    report,
    flights,
    stop,
    onWord,
    bots: [...bots.values()],
    attempts: config.upload.attempts,
    isMarking: config.platform.mark,
    platformNow: () => platform.now(),
    isBarred: (botId) => breaker.isOpen || context.round.blockade.reasonAgainst(botId, false) !== null,
    noteShortage: (message, botId) => {
      context.round.blockade.note({ kind: 'quota', message }, botId);
    },
    noteUnsent: (source, path, fingerprint) => {
      context.round.unsent.add(source, path, fingerprint);
    },
  });
}
