import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { mostTransfers, Transfers, type Urgency } from '../../../src/sync/pass/transfers.ts';

const KB = 1000;

/** Transfers that begin when they may and end when the test says so. */
class Line {
  /** Names of those under way, in the order they began. */
  readonly underWay: string[] = [];
  /** What the store takes, bytes a second. */
  rate: number | null = null;
  #nowMs = 0;
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];
  readonly #ends = new Map<string, () => void>();
  readonly #transfers: Transfers;

  constructor(concurrency: number, reserved = 0) {
    this.#transfers = new Transfers({
      concurrency,
      reserved,
      storeBytesPerSecond: () => this.rate,
      timer: {
        now: () => this.#nowMs,
        after: (ms, run) => this.#timers.push({ atMs: this.#nowMs + ms, run }),
      },
    });
  }

  /** Asks for places. */
  async ask(names: readonly string[], sizeBytes: number, urgency: Urgency = 'bulk'): Promise<void> {
    for (const name of names) {
      void this.#transfers.run(urgency, sizeBytes, () => {
        this.underWay.push(name);
        return new Promise<void>((resolve) => this.#ends.set(name, resolve));
      });
    }
    await settled();
  }

  async end(name: string): Promise<void> {
    this.underWay.splice(this.underWay.indexOf(name), 1);
    this.#ends.get(name)?.();
    await settled();
  }

  async wait(ms: number): Promise<void> {
    this.#nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#timers = this.#timers.filter((timer) => !due.includes(timer));
    for (const { run } of due) run();
    await settled();
  }
}

async function settled(): Promise<void> {
  await setImmediate();
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `${prefix}${n}`);
}

test('there are as many places as transfers may be under way, taken in the order they were asked for', async () => {
  const line = new Line(3);
  await line.ask(names('a', 5), 1 * KB);
  expect(line.underWay).toEqual(['a0', 'a1', 'a2']);
  await line.end('a1');
  expect(line.underWay).toEqual(['a0', 'a2', 'a3']);
});

test('some are kept for fresh changes, which go before all else', async () => {
  const line = new Line(3, 1);
  await line.ask(names('bulk', 4), 1 * KB);
  expect(line.underWay).toEqual(['bulk0', 'bulk1']);
  await line.ask(['edit'], 1_000_000 * KB, 'fresh');
  expect(line.underWay).toEqual(['bulk0', 'bulk1', 'edit']);
  await line.ask(['edit2'], 1 * KB, 'fresh');
  await line.end('bulk0');
  expect(line.underWay).toEqual(['bulk1', 'edit', 'edit2']);
});

describe('large content', () => {
  test('takes two places on a line that is not known yet, and all on a fast one', async () => {
    const line = new Line(8);
    await line.ask(names('large', 10), 120 * KB);
    expect(line.underWay).toHaveLength(2);
    line.rate = 10_000 * KB;
    await line.end('large0');
    expect(line.underWay).toHaveLength(8);
  });

  test('takes fewer on a line too thin for it, and more when the line gets faster, also while none ends', async () => {
    const line = new Line(8);
    line.rate = 10_000 * KB;
    await line.ask(names('a', 12), 2000 * KB);
    expect(line.underWay).toHaveLength(8);
    line.rate = 16 * KB;
    for (const name of names('a', 7)) await line.end(name);
    expect(line.underWay).toEqual(['a7', 'a8']);
    line.rate = 600 * KB;
    await line.wait(1000);
    expect(line.underWay).toEqual(['a7', 'a8', 'a9']);
  });

  test('is passed by small content, but does not wait for ever behind it', async () => {
    const line = new Line(4);
    await line.ask(names('large', 4), 600 * KB);
    await line.ask(names('small', 10), 4 * KB);
    expect(line.underWay).toEqual(['large0', 'large1', 'small0', 'small1']);
    for (const name of ['large0', 'large1']) await line.end(name);
    await line.ask(names('later', 10), 4 * KB);
    for (const name of names('small', 10)) await line.end(name);
    expect(line.underWay).toEqual(['large2', 'large3', 'later0', 'later1']);
  });
});

test('a transfer that takes long lends its place, to half as many again at the most', async () => {
  const line = new Line(4);
  line.rate = 10_000 * KB;
  await line.ask(names('slow', 4), 600 * KB);
  await line.ask(names('small', 10), 4 * KB);
  expect(line.underWay).toEqual(names('slow', 4));
  await line.wait(1000);
  expect(line.underWay).toEqual([...names('slow', 4), 'small0', 'small1']);
  expect(line.underWay).toHaveLength(mostTransfers(4));
  await line.end('small0');
  expect(line.underWay.at(-1)).toBe('small2');
});

test('where one transfer is to run at a time, none lends its place', async () => {
  const line = new Line(1);
  await line.ask(names('slow', 2), 4 * KB);
  await line.wait(5000);
  expect(line.underWay).toEqual(['slow0']);
});

test('a place is free again when an exchange fails', async () => {
  const line = new Transfers({
    concurrency: 1,
    reserved: 0,
    storeBytesPerSecond: () => null,
    timer: { now: () => 0, after: () => undefined },
  });
  await expect(line.run('bulk', 0, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
  expect(await line.run('bulk', 0, () => Promise.resolve('next'))).toBe('next');
});
