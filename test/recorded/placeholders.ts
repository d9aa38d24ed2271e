/** What is known of a run and differs each time. */
export interface Known {
  /** Texts, each with the name of what it is; where one holds another, the longer one counts. */
  readonly texts: readonly (readonly [text: string, name: string])[];
  /** Process ids that may be named. */
  readonly pids: readonly number[];
  readonly hostname: string;
  /** Epoch milliseconds: when the scene began, and now. */
  readonly fromMs: number;
  readonly toMs: number;
}

const DAY_MS = 86_400_000;

/** Moments may be told in whole minutes, and a command may have begun before its scene went on. */
const MARGIN_MS = 65_000;

/** The fields of a log line that pino puts first. */
const LOG_HEAD = /"time":\d{13},"pid":(\d+),"hostname":"([^"]*)"/gu;

/** In ISO 8601, as tables show it, and as it stands in the name of a file. */
const MOMENT = /\b(\d{4}-\d\d-\d\d)[T ](\d\d):?(\d\d)(?::?(\d\d(?:\.\d{3})?))?Z/gu;

/** Where something was drawn, measured, or is a fact of the machine; what is told of it stays. */
const MEASURED: readonly (readonly [RegExp, string])[] = [
  [/"durationMs":\d+/gu, '"durationMs":<ms>'],
  [/"digest":"[0-9a-f]{16}"/gu, '"digest":"<digest>"'],
  [/"(nextPass|failedAgain|renewalsAgain|nextTry)":"[^"]+"/gu, '"$1":<soon>'],
  [/"version":"[^"]+","node":"v[^"]+"/gu, '"version":<version>,"node":<version>'],
  [/"delayMs":\d+/gu, '"delayMs":<ms>'],
  [/ \(\d+(?:\.\d)? s\)/gu, ' (<s>)'],
  [/\bretrying (\S+ )?in \d+(?:\.\d)? s:/gu, 'retrying $1in <s>:'],
  // A transfer of less than 0.1 s is reported without its duration.
  [/\bB in \d+(?:\.\d)? s;/gu, 'B;'],
  [/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}/gmu, '<now>  '],
  [/\bLast full pass: \d+ s ago\b/gu, 'Last full pass: <s> ago'],
  [/, the last \d+ s ago\b/gu, ', the last <s> ago'],
  [/, as of the last pass, \d+ s ago\b/gu, ', as of the last pass, <s> ago'],
  [/, for \d+ s \(since\b/gu, ', for <s> (since'],
  [/\bnext full pass in \d+ min\b/gu, 'next full pass in <min>'],
  [/\bthe last pass ended \d+ (?:ms|seconds?) ago\b/gu, 'the last pass ended <ms> ago'],
  [/\b[\d,]+ that the system allows\b/gu, '<count> that the system allows'],
  [/\b[\d.,]+ [kMGTP]?B free on the disk\b/gu, '<size> free on the disk'],
  [/^(?:ok|warn) +node .*$/gmu, '<status> node <version>'],
  [/\{"check":"node",[^{}]*\}/gu, '{"check":"node",<version>}'],
];

/** Ids that the platform makes up, by what they begin with. */
const ID = /\b(conv|msg|user|intver|int|file)_[0-9A-Za-z]{8,}\b/gu;

/** Puts placeholders for what differs each time; within one scene the same id is the same placeholder. */
export class Placeholders {
  readonly #ids = new Map<string, string>();

  /** The text as it is recorded. */
  apply(text: string, { texts, pids, hostname, fromMs, toMs }: Known): string {
    let result = text;
    for (const [known, name] of [...texts].sort(([a], [b]) => b.length - a.length))
      result = result.replaceAll(known, `<${name}>`);
    result = result
      .replaceAll(LOG_HEAD, (head, pid: string, host: string) =>
        host === hostname && pids.includes(Number(pid)) ? '"time":<ms>,"pid":<pid>,"hostname":<host>' : head,
      )
      .replaceAll(/(\bprocess |"pid":)(\d+)\b/gu, (all, before: string, pid: string) =>
        pids.includes(Number(pid)) ? `${before}<pid>` : all,
      )
      .replaceAll(MOMENT, (moment, day: string, hours: string, minutes: string, seconds = '00') =>
        nameMoment(moment, Date.parse(`${day}T${hours}:${minutes}:${seconds}Z`), fromMs, toMs),
      )
      .replaceAll(/(\bon |"host":")([\w.-]+)(?=[",:)])/gu, (all, before: string, host: string) =>
        host === hostname ? `${before}<host>` : all,
      )
      .replaceAll(ID, (id, kind: string) => this.#nameId(id, kind));
    for (const [pattern, placeholder] of MEASURED) result = result.replaceAll(pattern, placeholder);
    return result;
  }

  #nameId(id: string, kind: string): string {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const count = [...this.#ids.values()].filter((name) => name.startsWith(`<${kind}-`)).length;
    const name = `<${kind}-${count + 1}>`;
    this.#ids.set(id, name);
    return name;
  }
}

/** `<now>`, or `<now+30d>` for what is so many whole days from now; any other moment is the same in every run. */
function nameMoment(moment: string, ms: number, fromMs: number, toMs: number): string {
  const days = Math.round((ms - toMs) / DAY_MS);
  const awayMs = days * DAY_MS;
  if (ms < fromMs + awayMs - MARGIN_MS || ms > toMs + awayMs + MARGIN_MS) return moment;
  return days === 0 ? '<now>' : `<now${days > 0 ? '+' : ''}${days}d>`;
}
