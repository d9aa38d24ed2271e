import { loadConfig, type LoadedConfig } from '../../config/load-config.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { checkConfig, checkSecrets, reportProblems, checkNode } from '../doctor/check-config.ts';
import { checkDirectories, checkRoom, checkStateFile } from '../doctor/check-disk.ts';
import { checkNotify, sendTest } from '../doctor/check-notify.ts';
import { checkPlatform } from '../doctor/check-platform.ts';
import { renderFinding, worst, type Diagnosis, type Examination } from '../doctor/finding.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { openRecords } from '../../run/read-records.ts';
import { printJson } from '../render/output.ts';
import { printLines } from '../render/text-layout.ts';
import { runSession } from '../session.ts';

export interface DoctorOptions extends GlobalOptions {
  readonly sendTest: boolean;
}

type Check = (examination: Examination) => Diagnosis[] | Promise<Diagnosis[]>;

/**
 * `botsync doctor`: checks everything that a sync needs, without changes except for the message of `--send-test`.
 * Prints each finding at once. Returns the exit code of the worst finding.
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const found: Diagnosis[] = [];
  const report = (diagnoses: readonly Diagnosis[]): void => {
    found.push(...diagnoses);
    if (!options.json) printLines(diagnoses.map(({ finding }) => renderFinding(finding)));
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
  const name = platformName(options, loaded.config);
  const records = openRecords({ loaded, platformName: name, env: process.env });
  // Problems with secrets are findings, and retries are not reported.
  const notices = { warn: () => undefined, retrying: () => undefined };
  return await runSession(loaded, options.emulator, 'doctor', notices, async (session) => {
    const examination = { loaded, options, platformName: name, session, records };
    try {
      for (const check of CHECKS) {
        if (session.signal.aborted) break;
        report(await check(examination));
      }
      if (!session.signal.aborted) report(await (options.sendTest ? sendTest : checkNotify)(examination));
    } finally {
      records.close();
    }
    return EXIT.ok;
  });
}

const CHECKS: readonly Check[] = [
  ({ loaded, session }) => checkConfig(loaded, session.credentials),
  ({ loaded, session, options }) => checkSecrets(loaded, session.credentials, options.emulator),
  checkCluster,
  checkPlatform,
  checkDirectories,
  checkStateFile,
  ({ loaded }) => checkRoom(loaded.config),
];

/** Checks the database, the ledger and the rights of its role. */
async function checkCluster({ loaded }: Examination): Promise<Diagnosis[]> {
  if (loaded.config.cluster === null) return [];
  const { checkLedger } = await import('../doctor/check-ledger.ts');
  return await checkLedger(loaded, loaded.config.cluster, process.env);
}
