import { EXIT } from '../../domain/exit-code.ts';
import { describeResource } from '../render/describe-resource.ts';
import { maskSecrets } from '../render/mask-secrets.ts';
import { print, shown } from '../render/output.ts';
import { platformError } from '../../library/platform-failure.ts';
import { printJson } from '../render/print-json.ts';
import type { ResourceOptions } from '../resource-options.ts';
import { withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync integration`. */
export interface IntegrationOptions extends ResourceOptions {
  readonly name: string;
  /** A version, a range, or `latest`. */
  readonly range: string;
  readonly multipleIntegrations: boolean;
}

/** What a person looks for first; the rest follows as the platform sent it. */
const FIRST = [
  ...['name', 'version', 'title', 'description', 'id', 'url'],
  ...['verificationStatus', 'lifecycleStatus', 'visibility', 'public', 'ownerWorkspace', 'createdAt'],
  ...['updatedAt', 'channels', 'actions', 'events', 'states', 'interfaces', 'configurations', 'entities'],
];

/** `botsync integration <name> [version]` (interface.md, Get an integration from the hub). Returns the exit code; throws `UsageError`. */
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
    const found = maskSecrets(outcome.value, secrets, !options.showSecrets) as typeof outcome.value;
    if (options.json) printJson({ integration: found });
    else print(describeResource(found, FIRST).join('\n'));
    return EXIT.ok;
  });
}
