import { grantOf, rateAt, type KnownHost, type ShareRow } from '../../src/domain/share.ts';
import {
  ShareHolder,
  type BudgetTerms,
  type ShareAnswer,
  type ShareRequest,
} from '../../src/domain/share-holder.ts';

interface TableRow extends ShareRow {
  readonly instance: string;
  readonly beat: number;
}

/** The table of a budget, as the database keeps it: one request after the other. */
class ShareTable {
  readonly rows = new Map<string, TableRow>();

  /** Carries out a request of a process of a host, whenever it arrives. */
  carryOut(host: string, instance: string, request: ShareRequest): ShareAnswer {
    for (const row of this.rows.values())
      if (row.host !== host && request.expelledMarks.includes(row.mark)) this.rows.delete(row.host);
    const others = [...this.rows.values()].filter((row) => row.host !== host);
    const mine = this.rows.get(host);
    if (mine !== undefined && !mayWrite(mine, instance, request))
      return { kind: 'replaced', mark: mine.mark, others };
    const known: KnownHost[] = others.map((row) => ({
      ...row,
      isSilent: request.silentMarks.includes(row.mark),
    }));
    const grant = grantOf(request.claim, request.limit, known);
    const { beat, limit, wanted } = request;
    const mark = `${instance}:${beat}`;
    this.rows.set(host, { host, instance, beat, mark, limit, wanted, ...grant });
    return { kind: 'granted', grant, others };
  }
}

function mayWrite(row: TableRow, instance: string, { beat, successorOf }: ShareRequest): boolean {
  if (row.instance === instance) return row.beat < beat;
  return successorOf === row.mark;
}

/** A process of a host. */
interface Process {
  readonly host: string;
  readonly instance: string;
  readonly holder: ShareHolder;
  /** What its monotonic clock is ahead. */
  readonly aheadMs: number;
}

interface Sent {
  readonly process: Process;
  readonly request: ShareRequest;
}

/** Hosts that share a budget, what they sent and what they will be told: every step is the caller's. */
export class ShareWorld {
  readonly table = new ShareTable();
  readonly #terms: BudgetTerms;
  readonly #processes = new Map<string, Process>();
  readonly wanted = new Map<string, number>();
  /** On their way to the table, and back. */
  readonly requests: Sent[] = [];
  readonly answers: (Sent & { readonly answer: ShareAnswer })[] = [];
  #nowMs = 0;
  #started = 0;

  constructor(terms: BudgetTerms) {
    this.#terms = terms;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
  }

  /** A host starts; a process of it that runs is killed first. */
  start(host: string): void {
    this.#processes.set(host, this.run(host));
  }

  /** Another process of a host, which is not the one that its name stands for. */
  run(host: string): Process {
    this.#started += 1;
    const instance = `p${this.#started}`;
    return { host, instance, holder: new ShareHolder(this.#terms), aheadMs: this.#started * 1_000_003 };
  }

  /** The process of a host. */
  process(host: string): Process {
    const process = this.#processes.get(host);
    if (process === undefined) throw new Error(`${host} does not run`);
    return process;
  }

  kill(host: string): void {
    this.#processes.delete(host);
  }

  /** A host asks; the request is on its way. */
  ask(host: string, process = this.#processes.get(host)): void {
    if (process === undefined) return;
    const nowMs = this.#nowMs + process.aheadMs;
    this.requests.push({ process, request: process.holder.ask(this.wanted.get(host) ?? 0, nowMs) });
  }

  /** The n-th request on its way arrives. */
  arrive(n: number): void {
    const [sent] = this.requests.splice(n, 1);
    if (sent === undefined) return;
    const { host, instance } = sent.process;
    this.answers.push({ ...sent, answer: this.table.carryOut(host, instance, sent.request) });
  }

  /** The n-th answer on its way arrives. */
  hear(n: number): void {
    const [told] = this.answers.splice(n, 1);
    if (told === undefined) return;
    const { process, request, answer } = told;
    process.holder.answered(request, answer, this.#nowMs + process.aheadMs);
  }

  /** A host asks and hears at once. */
  beat(host: string, process = this.#processes.get(host)): void {
    if (process === undefined) return;
    this.ask(host, process);
    this.arrive(this.requests.length - 1);
    this.hear(this.answers.length - 1);
  }

  /** What a host may use now; 0 where it does not run. */
  rate(host: string, process = this.#processes.get(host)): number {
    return process === undefined ? 0 : rateAt(process.holder.held, this.#nowMs + process.aheadMs);
  }

  /** What all may use together now. */
  get total(): number {
    return [...this.#processes.keys()].reduce((sum, host) => sum + this.rate(host), 0);
  }
}
