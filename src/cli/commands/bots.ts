import { EXIT } from '../../domain/exit-code.ts';
import { describe, maskSecrets, type ResourceOptions } from '../render/resource.ts';
import { print, printJson } from '../render/output.ts';
import { platformError } from '../../run/sync-error.ts';
import { withSession } from '../session.ts';
import { renderTable } from '../render/text-layout.ts';

/** `botsync bots`: all bots of the workspace (interface.md, List bots). Returns the exit code; throws `UsageError`. */
export function bots(options: ResourceOptions): Promise<number> {
  return withSession(options, 'bots', async ({ administration, signal, secrets }) => {
    const outcome = await administration().listBots(signal);
    if (outcome.kind === 'failed')
      throw platformError('the bots could not be listed', outcome.failure, 'reads');
    const listed = outcome.value.map((bot) => maskSecrets(bot, secrets, !options.showSecrets) as typeof bot);
    if (options.json) printJson({ bots: listed });
    else if (listed.length === 0) print('The workspace has no bots.');
    else {
      const rows = listed.map(({ id, name, createdAt, updatedAt, deployedAt }) => [
        ...[id, name].map((value) => describe(value) || '–'),
        ...[createdAt, updatedAt, deployedAt].map((moment) => toMinute(describe(moment)) || '–'),
      ]);
      print(renderTable(['ID', 'NAME', 'CREATED', 'UPDATED', 'DEPLOYED'], rows).join('\n'));
    }
    return EXIT.ok;
  });
}

/** Shortens a time to minutes; other texts stay as they are. */
function toMinute(moment: string): string {
  return moment.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d):\d\d(?:\.\d+)?Z$/u, '$1 $2Z');
}
