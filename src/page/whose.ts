import { countText } from '../service/amounts.ts';
import type { PageFacts } from './facts.ts';

const BOTS_NAMED = 3;

/** Returns the names of the bots; the ids of those whose names are not known. */
export function botsText({ bots }: PageFacts): string {
  if (bots.length > BOTS_NAMED) return countText(bots.length, 'bot');
  return bots.map((bot) => bot.name ?? bot.id).join(', ');
}
