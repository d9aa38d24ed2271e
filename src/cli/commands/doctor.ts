import type { Config } from '../../config/config.ts';
import { loadConfig, type LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { systemClock } from '../../service/system-clock.ts';
import { checkConfig, checkSecrets, reportProblems } from '../doctor/check-config.ts';
import { checkDirectories } from '../doctor/check-directories.ts';
import { checkCluster } from '../doctor/check-cluster.ts';
import { checkNode } from '../doctor/check-node.ts';
import { checkNotify, sendTest } from '../doctor/check-notify.ts';
import { checkOperations } from '../doctor/check-operations.ts';
import { checkPlatform, notAsked } from '../doctor/check-platform.ts';
import { checkState } from '../doctor/check-state.ts';
import { checkToken } from '../doctor/check-token.ts';
import { checkUsage } from '../doctor/check-usage.ts';
import { renderFinding, worst, type Diagnosis } from '../doctor/finding.ts';
import type { GlobalOptions } from '../global-options.ts';
import { forThisHost } from '../../library/for-this-host.ts';
import { load, platformName } from '../../library/load.ts';
import { openRecords, type Records } from '../../library/read-records.ts';
import { print } from '../render/output.ts';
import { printJson } from '../render/print-json.ts';
import { runSession, type Session } from '../session.ts';

/** Options of `botsync doctor`. */
export interface DoctorOptions extends GlobalOptions {
  /** Whether people are sent a message to try out whether it arrives. */
  readonly sendTest: boolean;
}

/** One look at the installation. What it finds is told as soon as it is found. */
type Check = () => Diagnosis[] | Promise<Diagnosis[]>;

/** `botsync doctor`: looks at all that a sync needs, and changes nothing but for what `--send-test` sends. Returns the exit code of the worst that it found. */
export async function doctor(options: DoctorOptions): Promise<number> {
  const found: Diagnosis[] = [];
  const tell = (diagnoses: readonly Diagnosis[]): void => {
    found.push(...diagnoses);
    if (!options.json) for (const { finding } of diagnoses) print(renderFinding(finding));
  };
  tell(checkNode(process.versions.node, Date.now()));
  const loaded = loadConfig(options.config);
  let exitCode: number = EXIT.ok;
  if (loaded.kind === 'invalid') tell(reportProblems(loaded.problems));
  else exitCode = await examine(options, load(options), tell);
  if (options.json) printJson(found.map(({ finding }) => finding));
  return exitCode === EXIT.ok ? worst(found) : exitCode;
}

async function examine(
  options: DoctorOptions,
  loaded: LoadedConfig,
  tell: (diagnoses: readonly Diagnosis[]) => void,
): Promise<number> {
  const config = forThisHost(loaded.config);
  const { emulator } = options;
  const name = platformName(options, config);
  const records = openRecords({ loaded, platformName: name, env: process.env });
  // What is wrong with a secret is a finding, and a request that is repeated is none.
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
        tell(await check());
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
  // What is wrong with it was told with the secrets.
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
  // What is refused once is refused again.
  if (worst(found) !== EXIT.ok || credentials.lacking('files').length > 0) return found;
  return [
    ...found,
    ...(await operations()),
    ...(await checkUsage(config, name, { clients: session, records }, signal)),
  ];
}
