import { EXIT } from '../../domain/exit-code.ts';
import { explain as explainFile } from '../../sync/plan/explain.ts';
import { explainUnseen } from '../../sync/plan/explanation.ts';
import { findSources } from '../../sync/sources/source.ts';
import type { GlobalOptions } from '../global-options.ts';
import { load, platformName } from '../../run/run-base.ts';
import { locateFile } from '../arguments.ts';
import { printJson } from '../render/output.ts';
import { printLines } from '../render/text-layout.ts';
import { withRecords } from '../../run/read-records.ts';
import { describeExplanation } from '../../words/explanation.ts';

export interface ExplainOptions extends GlobalOptions {
  readonly path: string;
}

/** `botsync explain <path>`. Returns the exit code; throws `UsageError`. */
export async function explain(options: ExplainOptions): Promise<number> {
  const loaded = load(options);
  const { config } = loaded;
  const name = platformName(options, config);
  const sources = findSources(config, name);
  const { found, path } = locateFile(options.path, sources);
  const place = { loaded, platformName: name, env: process.env };
  const explanation = await withRecords(place, ({ reader: state }) =>
    found.kind === 'missing'
      ? explainUnseen(found, path, { config, state, platformName: name })
      : explainFile(found.source, path, { config, sources, state, nowMs: Date.now() }),
  );
  if (options.json) printJson(explanation);
  else printLines(describeExplanation(explanation, config.platform.operations !== 'specified'));
  return EXIT.ok;
}
