import { EXIT } from '../../domain/exit-code.ts';
import { printResource, type ResourceOptions } from '../render/resource.ts';
import { shown } from '../render/output.ts';
import { platformError } from '../../run/sync-error.ts';
import { withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

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
