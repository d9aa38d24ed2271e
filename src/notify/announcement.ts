import type { Delivery } from '../domain/delivery.ts';

/** What becomes of a file that has reached the platform: nothing, an announcement, or a message to the operator. */
export type AnnouncementDecision =
  | { readonly kind: 'none' }
  | { readonly kind: 'announce'; readonly url: string }
  | { readonly kind: 'warn'; readonly message: string };

const NONE: AnnouncementDecision = { kind: 'none' };

/** Whether a file is announced. `matches` takes its path in the source, NFC. */
export function judgeDelivery(
  { path, isPublic, publicUrl }: Delivery,
  matches: (path: string) => boolean,
): AnnouncementDecision {
  if (!matches(path.normalize('NFC'))) return NONE;
  if (!isPublic) {
    const message =
      'is not announced, because it is not accessible: no rule gives it "accessPolicies": ["public_content"]';
    return { kind: 'warn', message };
  }
  if (publicUrl === null)
    return { kind: 'warn', message: 'is not announced: the platform named no address of its content' };
  return { kind: 'announce', url: publicUrl };
}
