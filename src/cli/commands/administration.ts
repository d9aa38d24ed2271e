import { EXIT } from '../../domain/exit-code.ts';
import { describe, maskSecrets, type ResourceOptions, printResource } from '../render/resource.ts';
import { print, printJson, shown } from '../render/output.ts';
import { platformError } from '../../run/sync-error.ts';
import { withSession } from '../session.ts';
import { renderTable } from '../render/text-layout.ts';
import { UsageError } from '../usage-error.ts';

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

export interface IntegrationOptions extends ResourceOptions {
  readonly name: string;
  /** A version, a range, or `latest`. */
  readonly range: string;
  readonly multipleIntegrations: boolean;
}

/** The most interesting fields; the others follow as the platform sent them. */
const FIRST = [
  ...['name', 'version', 'title', 'description', 'id', 'url'],
  ...['verificationStatus', 'lifecycleStatus', 'visibility', 'public', 'ownerWorkspace', 'createdAt'],
  ...['updatedAt', 'channels', 'actions', 'events', 'states', 'interfaces', 'configurations', 'entities'],
];

/**
 * `botsync integration <name> [version]` (interface.md, Get an integration from the hub). Returns the exit code;
 * throws `UsageError`.
 */
export function integration(options: IntegrationOptions): Promise<number> {
  const { name, range } = options;
  for (const text of [name, range]) {
    if (/^\.{0,2}$/u.test(text))
      throw new UsageError(`"${text}" is not the name or version of an integration`);
  }
  return withSession(options, 'integration', async ({ administration, signal, secrets }) => {
    const area = administration();
    const outcome = await area.getIntegration(name, range, options.multipleIntegrations, signal);
    if (outcome.kind === 'failed')
      throw platformError(`integration ${shown(name)} ${shown(range)}`, outcome.failure, 'reads');
    printResource(options, secrets, { name: 'integration', resource: outcome.value, first: FIRST });
    return EXIT.ok;
  });
}
