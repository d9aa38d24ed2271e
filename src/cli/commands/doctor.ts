import type { Config } from '../../config/config.ts';
import { loadConfig, type LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { systemClock } from '../../service/system-clock.ts';
import { checkConfig, checkSecrets, reportProblems, checkNode } from '../doctor/check-config.ts';
import { checkDirectories } from '../doctor/check-directories.ts';
import { checkNotify, sendTest } from '../doctor/check-notify.ts';
import { checkOperations } from '../doctor/check-operations.ts';
import { checkPlatform, notAsked, checkToken, checkUsage } from '../doctor/check-platform.ts';
import { checkState } from '../doctor/check-state.ts';
import { renderFinding, worst, type Diagnosis } from '../doctor/finding.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import type { Records } from '../../run/read-state-file.ts';
import { openRecords } from '../../run/read-records.ts';
import { print, printJson } from '../render/output.ts';
import { runSession, type Session } from '../session.ts';

export interface DoctorOptions extends GlobalOptions {
  readonly sendTest: boolean;
}

type Check = () => Diagnosis[] | Promise<Diagnosis[]>;

/**
 * `botsync doctor`: checks everything that a sync needs, without changes except for the message of `--send-test`.
 * Prints each finding at once. Returns the exit code of the worst finding.
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const found: Diagnosis[] = [];
  const report = (diagnoses: readonly Diagnosis[]): void => {
    found.push(...diagnoses);
    if (!options.json) for (const { finding } of diagnoses) print(renderFinding(finding));
  };
  report(checkNode(process.versions.node, Date.now()));
  const loaded = loadConfig(options.config);
  let exitCode: number = EXIT.ok;
  if (loaded.kind === 'invalid') report(reportProblems(loaded.problems));
  else exitCode = await examine(options, load(options), report);
  if (options.json) printJson(found.map(({ finding }) => finding));
  return exitCode === EXIT.ok ? worst(found) : exitCode;
}

async function examine(
  options: DoctorOptions,
  loaded: LoadedConfig,
  report: (diagnoses: readonly Diagnosis[]) => void,
): Promise<number> {
  const { config } = loaded;
  const { emulator } = options;
  const name = platformName(options, config);
  const records = openRecords({ loaded, platformName: name, env: process.env });
  // Problems with secrets are findings, and retries are not reported.
  const notices = { warn: () => undefined, retrying: () => undefined };
  return await runSession(loaded, emulator, 'doctor', notices, async (session) => {
    const checks: readonly Check[] = [
      () => checkConfig(loaded, session.credentials),
      () => checkSecrets(loaded, session.credentials, emulator),
      () => checkCluster(loaded),
      () => askPlatform(config, name, session, records),
      () => checkDirectories(config, name, systemClock, session.signal),
      () => checkState(config, name, options, records),
      () => (options.sendTest ? sendTest : checkNotify)(loaded, options, session),
    ];
    try {
      for (const check of checks) {
        if (session.signal.aborted) break;
        report(await check());
      }
    } finally {
      records.close();
    }
    return EXIT.ok;
  });
}

async function askPlatform(
  config: Config,
  name: string,
  session: Session,
  records: Records,
): Promise<Diagnosis[]> {
  const { credentials, administration, signal } = session;
  // Reported with the secrets already.
  if (credentials.find('platform.token')?.kind === 'problem') return notAsked('there is no token');
  const lacking = credentials.lacking('admin');
  const first = lacking.find(({ field }) => field === 'platform.token') ?? lacking[0];
  const operations = (): Promise<Diagnosis[]> =>
    checkOperations(config, name, { clients: session, records }, signal);
  if (first !== undefined) {
    const reason = `${first.field} ${first.message}`;
    if (credentials.lacking('files').length > 0) return notAsked(reason);
    const found = await checkToken(config, session, reason, signal);
    return worst(found) === EXIT.ok ? [...found, ...(await operations())] : found;
  }
  const found = await checkPlatform(config, administration(), signal);
  // A second request would be refused, too.
  if (worst(found) !== EXIT.ok || credentials.lacking('files').length > 0) return found;
  return [
    ...found,
    ...(await operations()),
    ...(await checkUsage(config, name, { clients: session, records }, signal)),
  ];
}

/** Checks the database, the ledger and the rights of its role. */
async function checkCluster(loaded: LoadedConfig): Promise<Diagnosis[]> {
  if (loaded.config.cluster === null) return [];
  const { checkLedger } = await import('../doctor/check-ledger.ts');
  return await checkLedger(loaded, loaded.config.cluster, process.env);
}
