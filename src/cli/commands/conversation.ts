import { readHeaderText } from '../../config/values.ts';
import { EXIT } from '../../domain/exit-code.ts';
import { checkConversation, type ConversationRequest } from '../../domain/request-limits.ts';
import { printResource, type ResourceOptions } from '../render/resource.ts';
import { platformError } from '../../run/sync-error.ts';
import type { ConversationIdentity } from '../../run/platform/clients.ts';
import { withSession } from '../session.ts';
import { readTags } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

export interface ConversationOptions extends ResourceOptions {
  readonly channel: string;
  readonly tag: readonly string[] | undefined;
  readonly integrationName: string | undefined;
  readonly integrationId: string | undefined;
  readonly integrationAlias: string | undefined;
}

/** `botsync conversation create` (interface.md, Create a conversation). Returns the exit code; throws `UsageError`. */
export function createConversation(options: ConversationOptions): Promise<number> {
  const request = readRequest(options);
  const identity = readIdentity(options);
  return withSession(options, 'conversation create', async ({ conversations, signal, secrets }) => {
    const outcome = await conversations(identity).create(request, signal);
    if (outcome.kind === 'failed')
      throw platformError('the conversation could not be created', outcome.failure, 'creates');
    const first = ['id', 'channel', 'integration', 'tags', 'createdAt'];
    printResource(options, secrets, { name: 'conversation', resource: outcome.value, first });
    return EXIT.ok;
  });
}

const OPTION_OF = { channel: '--channel', tags: '--tag', integrationName: '--integration-name' } as const;

function readRequest({ channel, tag = [], integrationName }: ConversationOptions): ConversationRequest {
  const request = {
    channel,
    tags: readTags(tag),
    ...(integrationName !== undefined && { integrationName }),
  };
  const problem = checkConversation(request);
  if (problem === null) return request;
  throw new UsageError(`${OPTION_OF[problem.field]} ${problem.message}`);
}

/** Reads the options that override the identity in the configuration. */
function readIdentity({ integrationId, integrationAlias }: ConversationOptions): ConversationIdentity {
  return {
    ...(integrationId !== undefined && { integrationId: readHeader('--integration-id', integrationId) }),
    ...(integrationAlias !== undefined && {
      integrationAlias: readHeader('--integration-alias', integrationAlias),
    }),
  };
}

function readHeader(option: string, text: string): string {
  const read = readHeaderText(text);
  if (read.kind === 'problem') throw new UsageError(`${option} ${read.message}`);
  return read.value;
}
