import { EXIT } from '../../domain/exit-code.ts';
import { checkMessage } from '../../domain/request-limits.ts';
import { describeResource } from '../render/describe-resource.ts';
import { maskSecrets } from '../render/mask-secrets.ts';
import { readPayload, type PayloadOptions } from '../message-payload.ts';
import { print } from '../render/output.ts';
import { platformError } from '../../library/platform-failure.ts';
import { printJson } from '../render/print-json.ts';
import type { ResourceOptions } from '../resource-options.ts';
import { withSession } from '../session.ts';
import { UsageError } from '../usage-error.ts';

/** Options of `botsync message send`. */
export interface MessageOptions extends ResourceOptions, PayloadOptions {
  readonly conversation: string;
}

const OPTION_OF = { conversationId: '--conversation', payload: 'the payload' } as const;

/** `botsync message send` (interface.md, Create a message). Returns the exit code; throws `UsageError`. */
export async function sendMessage(options: MessageOptions): Promise<number> {
  const request = { conversationId: options.conversation, payload: await readPayload(options) };
  const problem = checkMessage(request);
  if (problem !== null) throw new UsageError(`${OPTION_OF[problem.field]} ${problem.message}`);
  return await withSession(options, 'message send', async ({ chat, signal, secrets }) => {
    const outcome = await chat().send(request, signal);
    if (outcome.kind === 'failed')
      throw platformError('the message could not be sent', outcome.failure, 'creates');
    const sent = maskSecrets(outcome.value, secrets, !options.showSecrets) as typeof outcome.value;
    if (options.json) printJson({ message: sent });
    else
      print(describeResource(sent, ['id', 'conversationId', 'userId', 'createdAt'], ['payload']).join('\n'));
    return EXIT.ok;
  });
}
