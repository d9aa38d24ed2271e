import { Bag, type BagItem } from '../domain/bag.ts';

/** Told when a signal aborts. */
export interface AbortListener extends BagItem {
  readonly aborted: () => void;
}

interface Listened {
  readonly listeners: Bag<AbortListener>;
  readonly tellAll: () => void;
}

const listenedTo = new WeakMap<AbortSignal, Listened>();

/**
 * Has a listener told when a signal aborts, for signals that outlive thousands of requests. `EventTarget` keeps its
 * listeners in a linked list: one that was taken out, but is old by then, keeps all that came after it until V8 collects
 * its old objects. It is given one for all.
 */
export function listen(signal: AbortSignal, listener: AbortListener): void {
  let listened = listenedTo.get(signal);
  if (listened === undefined) {
    const listeners = new Bag<AbortListener>();
    const tellAll = (): void => {
      for (const one of [...listeners]) one.aborted();
    };
    listenedTo.set(signal, (listened = { listeners, tellAll }));
  }
  if (listened.listeners.size === 0) signal.addEventListener('abort', listened.tellAll);
  listened.listeners.add(listener);
}

/** Takes a listener out, if it is in. A signal that nobody listens to can be collected. */
export function unlisten(signal: AbortSignal, listener: AbortListener): void {
  const listened = listenedTo.get(signal);
  if (listened === undefined || listened.listeners.size === 0) return;
  listened.listeners.delete(listener);
  if (listened.listeners.size === 0) signal.removeEventListener('abort', listened.tellAll);
}
