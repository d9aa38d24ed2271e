import * as z from 'zod';
import { created, randomId, refuse, succeed, type OperationResult } from '../answer.ts';
import { describeUser } from '../chat-resources.ts';
import { aboutNoFile, type Operation } from '../operation.ts';
import { readBody, readUser } from '../request-checks.ts';

const profileFields = {
  name: z.string().optional(),
  pictureUrl: z.string().optional(),
  profile: z.string().optional(),
};

const createSchema = z.strictObject({ ...profileFields, id: z.string().min(1).optional() });

/** POST {chat_url}/{webhookUrl}/users: a new user and its key; asks for no key. Source: the official chat client. */
export const createUser: Operation = {
  name: 'chat-create-user',
  method: 'POST',
  pattern: '/chat/:webhookId/users',
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const body = await readBody(request, platform, createSchema);
    if (body.kind === 'refused') return body.answer;
    const { id = `user_${randomId()}`, ...profile } = body.value;
    if (platform.users.findById(id) !== null) {
      return refuse(409, 'AlreadyExists', `User "${id}" already exists`);
    }
    const now = platform.now();
    const user = { id, profile, createdAt: now, updatedAt: now };
    const key = `emulator_user_${randomId()}`;
    platform.users.add(user, key);
    return created({ user: describeUser(user), key });
  },
};

/**
 * POST {chat_url}/{webhookUrl}/users/get-or-create: the user of a key. Keys that a client signed itself are not known
 * here: 401. Source: the official chat client.
 */
export const getOrCreateUser: Operation = {
  name: 'chat-get-or-create-user',
  method: 'POST',
  pattern: '/chat/:webhookId/users/get-or-create',
  surface: 'chat',
  identify: aboutNoFile,

  async answer(request, platform): Promise<OperationResult> {
    const caller = readUser(request, platform);
    if (caller.kind === 'refused') return caller.answer;
    const body = await readBody(request, platform, z.strictObject(profileFields));
    return body.kind === 'refused' ? body.answer : succeed({ user: describeUser(caller.user) });
  },
};

/** GET {chat_url}/{webhookUrl}/users/me. Source: the official chat client. */
export const getUser: Operation = {
  name: 'chat-get-user',
  method: 'GET',
  pattern: '/chat/:webhookId/users/me',
  surface: 'chat',
  identify: aboutNoFile,

  answer(request, platform): OperationResult {
    const caller = readUser(request, platform);
    return caller.kind === 'refused' ? caller.answer : succeed({ user: describeUser(caller.user) });
  },
};
