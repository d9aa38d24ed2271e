import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Config } from '../config/config.ts';
import { CONFIG_NAMES, SERVICE_CONFIG } from '../config/find-config.ts';
import { withStateFile } from '../run/read-state-file.ts';
import { load } from '../run/run-base.ts';
import { SERVICE } from '../run/state-file.ts';
import { SyncError } from '../run/sync-error.ts';
import { findHolder } from '../service/process-lock.ts';
import { counted } from '../words/quantity.ts';
import { commandEnd, introduceConfig, type GlobalOptions } from './global-options.ts';
import { invocation, shown } from './render/output.ts';

/** The use that was made of a configuration: a service runs, a pass has ended, or neither. */
type Use = 'service' | 'passes' | 'none';

type Here =
  | { readonly kind: 'absent' }
  | { readonly kind: 'unusable'; readonly message: string }
  | { readonly kind: 'usable'; readonly config: Config; readonly use: Use };

interface Suggestion {
  readonly command: string;
  readonly effect: string;
  /** Always against the emulator. */
  readonly isTrial?: true;
}

/** Describes the configuration that commands would use here, and suggests the next commands. */
export async function describeHere(options: GlobalOptions): Promise<string> {
  const here = await look(options);
  const emulator = (isTrial = false): boolean => options.emulator || isTrial;
  const lines = suggest(here).map(({ command, effect, isTrial }) => ({
    line: `  ${invocation()} ${command}${commandEnd({ ...options, emulator: emulator(isTrial) })}`,
    effect,
  }));
  const width = Math.max(0, ...lines.map(({ line }) => line.length));
  return [
    describe(here, options),
    ...lines.map(({ line, effect }) => `${line.padEnd(width)}  ${effect}`),
  ].join('\n');
}

async function look(options: GlobalOptions): Promise<Here> {
  try {
    introduceConfig(options);
    if (options.config === CONFIG_NAMES[0] && !existsSync(options.config)) return { kind: 'absent' };
    const { config } = load(options);
    return { kind: 'usable', config, use: await useOf(config) };
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    return { kind: 'unusable', message: error.message };
  }
}

async function useOf({ stateFile, cluster }: Config): Promise<Use> {
  if (findHolder(stateFile)?.command === SERVICE) return 'service';
  // The passes of a cluster are in its database, which may be unreachable.
  if (cluster !== null) return 'passes';
  try {
    return await withStateFile(stateFile, ({ reader }) =>
      reader.overview.lastPass() === null ? 'none' : 'passes',
    );
  } catch (error) {
    if (!(error instanceof SyncError)) throw error;
    // The suggested command reports why it cannot be read.
    return 'passes';
  }
}

function describe(here: Here, { config: file }: GlobalOptions): string {
  switch (here.kind) {
    case 'absent':
      return `There is no configuration here, above or in ${dirname(SERVICE_CONFIG)}. Next:`;
    case 'unusable':
      return here.message;
    case 'usable': {
      const { sources } = here.config;
      const bots = new Set(sources.map(({ botId }) => botId));
      const names = sources.length > 3 ? '' : ` (${sources.map(({ name }) => name).join(', ')})`;
      const bot = bots.size === 1 ? `bot ${[...bots].join('')}` : counted(bots.size, 'bot');
      return `Configuration: ${shown(file)}: ${shown(`${counted(sources.length, 'source')}${names}, ${bot}`)}\n${USES[here.use]}. Next:`;
    }
  }
}

const USES: Readonly<Record<Use, string>> = {
  service: 'A service is running',
  passes: 'No service is running',
  none: 'No pass has ended yet',
};

function suggest(here: Here): readonly Suggestion[] {
  switch (here.kind) {
    case 'absent':
      return [{ command: 'init', effect: 'writes one' }];
    case 'unusable':
      return [];
    case 'usable':
      return AFTER[here.use];
  }
}

const STATUS: Suggestion = { command: 'status', effect: 'shows what is in sync' };

const AFTER: Readonly<Record<Use, readonly Suggestion[]>> = {
  service: [STATUS],
  passes: [STATUS, { command: 'sync', effect: 'runs as a service' }],
  none: [
    { command: 'doctor', effect: 'checks what a sync needs' },
    { command: 'sync --once', effect: 'tries it locally', isTrial: true },
    { command: 'sync --dry-run', effect: 'shows what a pass would do' },
  ],
};
