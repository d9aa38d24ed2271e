// A platform that takes 100 requests in any second, uploads to its store not counted: how much of that a mirror gets
// alone, beside another mirror, beside another client, and where no header tells of the limit. One request a file.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import {
  beginSync,
  makeTree,
  readTally,
  row,
  setConditions,
  untilTally,
  withScratch,
  withServer,
  writeConfig,
} from './measure.js';

const LIMIT = 100;
const FILES = 3000;
const SECOND = 1000;
/** More than a mirror sends in the time of a measurement. */
const HUNGRY_FILES = 7000;
const HUNGRY_MS = 60 * SECOND;
/** What the first window lets through at once is no rate. */
const WINDOW_MS = SECOND;

/** One pass that has the limit for itself. */
export async function rateAlone() {
  const { rate, refused, missing } = await alone({});
  return {
    name: `${FILES} small files at ${LIMIT} requests/s, alone`,
    figures: { 'requests/s': rate },
    rows: [
      row('part of the limit', rate / LIMIT, '>=', 0.95, ''),
      row('refused for the rate (429)', refused, '<=', 0.5, '%'),
      row('files that did not arrive', missing, '<=', 0, ''),
    ],
  };
}

/** The same where no header tells of the limit, but for `Retry-After` of a refusal. */
export function rateUntold() {
  return untold('no headers', true);
}

/** The same where not even a refusal tells when to come again. */
export function rateSilent() {
  return untold('no headers, no Retry-After', false);
}

async function untold(what, retryAfter) {
  const { rate, refused, missing } = await alone({ headers: false, retryAfter });
  return {
    name: `${FILES} small files at ${LIMIT} requests/s, alone, ${what}`,
    figures: { 'requests/s': rate },
    rows: [
      row('part of the limit', rate / LIMIT, '>=', 0.9, ''),
      row('refused for the rate (429)', refused, '<=', 1, '%'),
      row('files that did not arrive', missing, '<=', 0, ''),
    ],
  };
}

function alone(told) {
  return withMirrors([''], FILES, async (baseUrl, [directory]) => {
    await setConditions(baseUrl, { rateLimit: { requests: LIMIT, ...told } });
    await beginSync(directory).ended;
    const { clients, completed } = await readTally(baseUrl);
    const { admitted } = clients[''];
    return {
      missing: FILES - Object.keys(completed).length,
      rate: rateBetween(admitted, admitted[0] + WINDOW_MS, admitted.at(-1)),
      refused: refusedPercent(clients['']),
    };
  });
}

/** Two passes at the same time, which know nothing of each other. */
export function rateTwo() {
  const names = ['one', 'two'];
  return withMirrors(names, FILES / 2, async (baseUrl, directories) => {
    await setConditions(baseUrl, { rateLimit: { requests: LIMIT } });
    const both = names.map((name, n) => beginSync(directories[n], name).ended);
    for (const { code, errors } of await Promise.all(both)) if (code !== 0) throw new Error(errors);
    const { clients } = await readTally(baseUrl);
    const times = names.map((name) => clients[name].admitted);
    const fromMs = Math.max(...times.map((one) => one[0])) + WINDOW_MS;
    const toMs = Math.min(...times.map((one) => one.at(-1)));
    const rates = times.map((one) => rateBetween(one, fromMs, toMs));
    const together = rates[0] + rates[1];
    return {
      name: `two mirrors of ${FILES / 2} small files at ${LIMIT} requests/s`,
      figures: { 'one requests/s': rates[0], 'the other requests/s': rates[1] },
      rows: [
        row('part of the limit, together', together / LIMIT, '>=', 0.95, ''),
        row('part of the slower one', Math.min(...rates) / together, '>=', 0.4, ''),
        row(
          'refused for the rate (429)',
          Math.max(...names.map((n) => refusedPercent(clients[n]))),
          '<=',
          0.5,
          '%',
        ),
      ],
    };
  });
}

/** Four passes that never have enough, with what answers tell of the limit. */
export function rateFour() {
  return hungry('', {}, 0.5);
}

/**
 * The same where no header tells of the limit, and a refusal not when to come again: what is in flight when the limit is met first,
 * up to 8 requests of each, is refused, and that is 0.5 % of a minute.
 */
export function rateFourSilent() {
  return hungry(', no headers', { headers: false }, 1);
}

/** @param mostRefused - per cent of all requests. */
function hungry(what, told, mostRefused) {
  const names = ['one', 'two', 'three', 'four'];
  return withMirrors(names, HUNGRY_FILES, async (baseUrl, directories) => {
    await setConditions(baseUrl, { rateLimit: { requests: LIMIT, ...told } });
    const passes = names.map((name, n) => beginSync(directories[n], name));
    const begun = ({ clients }) => names.every((name) => clients[name]?.admitted.length > 0);
    await untilTally(baseUrl, begun, 20);
    const { nowMs: fromMs } = await readTally(baseUrl);
    await delay(HUNGRY_MS);
    const { clients } = await readTally(baseUrl);
    for (const { child } of passes) child.kill('SIGKILL');
    await Promise.all(passes.map(({ ended }) => ended));
    const rates = names.map((name) => rateBetween(clients[name].admitted, fromMs, fromMs + HUNGRY_MS));
    const together = rates.reduce((sum, rate) => sum + rate, 0);
    const all = names.map((name) => clients[name]);
    const refused = all.reduce((sum, one) => sum + one.refused, 0);
    const admitted = all.reduce((sum, one) => sum + one.admitted.length, 0);
    return {
      name: `four hungry mirrors at ${LIMIT} requests/s for ${HUNGRY_MS / SECOND} s${what}`,
      figures: Object.fromEntries(names.map((name, n) => [`${name} requests/s`, rates[n]])),
      rows: [
        row('part of the limit, together', together / LIMIT, '>=', 0.92, ''),
        row('slowest, of its equal part', (Math.min(...rates) * names.length) / together, '>=', 0.5, ''),
        row(
          'refused for the rate (429)',
          refusedPercent({ admitted: { length: admitted }, refused }),
          '<=',
          mostRefused,
          '%',
        ),
      ],
    };
  });
}

/** Beside a client that takes half, and after its end. */
export function rateRival() {
  const rivalsRate = LIMIT / 2;
  return withMirrors([''], FILES, async (baseUrl, [directory]) => {
    await setConditions(baseUrl, { rateLimit: { requests: LIMIT } });
    const contender = new URL('contenders/rival.js', import.meta.url).pathname;
    const rival = spawn(process.execPath, [contender, baseUrl, rivalsRate], { stdio: 'inherit' });
    try {
      await untilTally(baseUrl, ({ clients }) => clients.rival?.admitted.length > rivalsRate, 10);
      const ours = beginSync(directory);
      await untilTally(baseUrl, ({ clients }) => '' in clients, 10);
      await delay(18 * SECOND);
      rival.kill();
      await delay(6 * SECOND);
      const { clients, nowMs } = await readTally(baseUrl);
      ours.child.kill();
      await ours.ended;
      const { admitted } = clients[''];
      const rivalsEndMs = clients.rival.admitted.at(-1);
      const beside = rateBetween(admitted, admitted[0] + 3 * SECOND, rivalsEndMs);
      const after = rateBetween(admitted, rivalsEndMs + 2 * SECOND, nowMs);
      return {
        name: `small files at ${LIMIT} requests/s, of which another client takes ${rivalsRate}`,
        figures: { 'requests/s beside it': beside, 'requests/s from 2 s after its end': after },
        rows: [
          row('part of our half', beside / (LIMIT - rivalsRate), '>=', 0.9, ''),
          row('part of the limit after it', after / LIMIT, '>=', 0.95, ''),
          row('refused for the rate (429)', refusedPercent(clients['']), '<=', 0.5, '%'),
          row('refused, the other client', refusedPercent(clients.rival), '<=', 5, '%'),
        ],
      };
    } finally {
      rival.kill();
    }
  });
}

/** Runs something beside the server, with a directory for each name that holds so many files. */
function withMirrors(names, files, action) {
  return withScratch((scratch) =>
    withServer((baseUrl) => {
      const directories = names.map((name) => join(scratch, `mirror-${name}`));
      for (const directory of directories) {
        makeTree(directory, files, (n) => `article ${n}\n`);
        writeConfig(directory, { platform: { baseUrl } });
      }
      return action(baseUrl, directories);
    }),
  );
}

/** Requests a second, from one moment to another. */
function rateBetween(times, fromMs, toMs) {
  const between = times.filter((ms) => ms > fromMs && ms <= toMs);
  return between.length / ((toMs - fromMs) / SECOND);
}

function refusedPercent({ admitted, refused }) {
  return (refused / (admitted.length + refused)) * 100;
}
