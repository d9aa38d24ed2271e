import type { LoadedConfig } from '../config/load-config.ts';
import { findHolder } from '../service/process-lock.ts';
import type { AskedOfHolders } from './ask-holders.ts';
import type { GlobalOptions } from './global-options.ts';
import { print, shown } from './render/output.ts';
import { printJson } from './render/print-json.ts';

/**
 * Where no daemon of this host runs, asks the other hosts of a cluster that hold what is wanted, and tells who was asked (`only`).
 * `too`: the daemon of this host is to be asked, as ever where there is no cluster. Throws `UsageError`.
 */
export async function askOthers(
  loaded: LoadedConfig,
  wanted: AskedOfHolders,
  { json }: Pick<GlobalOptions, 'json'>,
): Promise<'only' | 'too'> {
  const { cluster, stateFile } = loaded.config;
  // A daemon of this host passes on what is not its own.
  if (cluster === null || findHolder(stateFile) !== null) return 'too';
  const { askHolders } = await import('./ask-holders.ts');
  const { others, isHere } = await askHolders(loaded, process.env, wanted);
  for (const { host, source } of others) {
    if (json) printJson({ asked: wanted.kind, source, path: wanted.path, host });
    else
      print(
        shown(`${host} was asked: ${wanted.kind} ${source}${wanted.path === null ? '' : `/${wanted.path}`}`),
      );
  }
  return isHere ? 'too' : 'only';
}
