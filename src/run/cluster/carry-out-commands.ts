import type { ClusterMembership, CommandRow } from '../../cluster/shared-ledger.ts';
import type { Log } from '../../service/logger.ts';
import type { DeclaredUnits, OwnUnit } from './own-units.ts';
import type { HeldUnit } from './held-unit.ts';

export interface CommandInput {
  readonly membership: Pick<ClusterMembership, 'takeCommand'>;
  readonly declared: Pick<DeclaredUnits, 'find'>;
  readonly held: {
    readonly get: (id: number) => Pick<HeldUnit, 'grant' | 'isEnding' | 'release'> | undefined;
  };
  readonly log: Pick<Log, 'error'>;
  /** Returns whether a daemon works on a held unit: it starts after the records are loaded. */
  readonly isAtWork: (unit: OwnUnit) => boolean;
  readonly carryOut: (unit: OwnUnit, command: CommandRow) => void;
}

/** Asks a holder to release a unit. `epoch` names the holder that is meant: later ones ignore the command. */
interface ReleaseCommand {
  readonly epoch: number;
}

/** Carries out the commands of other hosts for units that this host works on, each once. Throws `DatabaseError`. */
export async function carryOutCommands(
  commands: readonly CommandRow[],
  { membership, declared, held, log, isAtWork, carryOut }: CommandInput,
): Promise<void> {
  for (const command of commands) {
    const own = declared.find(command.unit);
    const unit = held.get(command.unit);
    if (own === undefined || unit?.isEnding !== false) continue;
    if (!isCommand(command)) {
      if (await membership.takeCommand(command.id))
        log.error(`a command for ${own.name} in the ledger cannot be read, and was deleted`);
      continue;
    }
    if (command.kind !== 'release' && !isAtWork(own)) continue;
    if (!(await membership.takeCommand(command.id))) continue;
    if (command.kind !== 'release') carryOut(own, command);
    else if ((command.body as ReleaseCommand).epoch === unit.grant.epoch) unit.release();
  }
}

/**
 * Returns whether a host wrote the command. The row may have been edited in the database: it must not crash every host
 * that reads it, nor approve anything that nobody named.
 */
function isCommand({ kind, body }: CommandRow): boolean {
  const { epoch, source, path = null, halt, glob = null, digest } = (body ?? {}) as Record<string, unknown>;
  if (kind === 'release') return typeof epoch === 'number';
  if (typeof source !== 'string') return false;
  switch (kind) {
    case 'approve':
      return typeof halt === 'string';
    case 'rescan':
      return isTextOrNull(path);
    case 'repair':
      return true;
    case 'prune':
      return typeof digest === 'string' && isTextOrNull(glob);
    default:
      return false;
  }
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}
