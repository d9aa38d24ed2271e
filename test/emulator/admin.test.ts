import { describe, expect, test } from 'vitest';
import type { Emulator } from '../../src/emulator/emulator.ts';
import { call, errorBody, START, start } from './fixture.ts';

type Headers = Record<string, string | null>;

function adminHeaders(emulator: Emulator): Headers {
  return { authorization: `Bearer ${emulator.token}`, 'x-workspace-id': emulator.workspaceId };
}

function bots(emulator: Emulator, query = '', headers: Headers = {}): ReturnType<typeof call> {
  return call(`${emulator.baseUrl}/v1/admin/bots${query}`, 'GET', { ...adminHeaders(emulator), ...headers });
}

function integration(
  emulator: Emulator,
  name: string,
  version: string,
  headers: Headers = {},
): ReturnType<typeof call> {
  const path = `${encodeURIComponent(name)}/${encodeURIComponent(version)}`;
  const url = `${emulator.baseUrl}/v1/admin/hub/integrations/${path}`;
  return call(url, 'GET', { ...adminHeaders(emulator), ...headers });
}

async function versionOf(emulator: Emulator, name: string, version: string): Promise<unknown> {
  const { body } = await integration(emulator, name, version);
  return (body as { integration?: { version: string } }).integration?.version ?? null;
}

describe('the list of bots', () => {
  test('has every field and no token when all are on one page', async () => {
    const { emulator } = await start({ bots: [{ id: 'b1', name: 'One' }] });
    const at = new Date(START).toISOString();
    expect(await bots(emulator)).toMatchObject({
      status: 200,
      body: { bots: [{ id: 'b1', name: 'One', createdAt: at, updatedAt: at, deployedAt: at }], meta: {} },
    });
  });

  test('refuses a token it did not give out and a page size that is none', async () => {
    const { emulator } = await start();
    for (const query of [
      '?nextToken=abc',
      '?nextToken=',
      '?nextToken=eA%3D%3D%3D%2B%2F',
      '?pageSize=0',
      '?pageSize=x',
    ]) {
      expect(await bots(emulator, query)).toMatchObject({
        status: 400,
        body: errorBody(400, 'InvalidQuery'),
      });
    }
  });

  test.each<[string, Headers]>([
    ['no token', { authorization: null }],
    ['no workspace', { 'x-workspace-id': null }],
  ])('%s: 401', async (_, headers) => {
    const { emulator } = await start();
    expect(await bots(emulator, '', headers)).toMatchObject({
      status: 401,
      body: errorBody(401, 'Unauthorized'),
    });
  });
});

describe('an integration of the hub', () => {
  test('has every field of the interface', async () => {
    const { emulator } = await start();
    const { status, body } = await integration(emulator, 'webchat', 'latest');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      integration: {
        name: 'webchat',
        version: '0.3.0',
        signingSecret: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        channels: { channel: { messages: { audio: {}, text: {} } } },
        configuration: { identifier: { required: false }, schema: { type: 'object' } },
        user: { tags: {}, creation: { enabled: false, requiredTags: [] } },
        visibility: 'public',
        verificationStatus: 'unapproved',
        lifecycleStatus: 'published',
        ownerWorkspace: { id: emulator.workspaceId, handle: 'emulator', name: 'Emulator' },
        meta: { installs: 0, views: 0 },
      },
    });
    const fields =
      'id createdAt updatedAt identifier url interfaces configurations states events actions entities dev title description iconUrl readmeUrl public secrets sandbox maxExecutionTime attributes';
    for (const field of fields.split(' ')) expect(body).toHaveProperty(`integration.${field}`);
  });

  test.each([
    ['1.0.0', '1.0.0'],
    ['v1.0.0', '1.0.0'],
    ['^1.0.0', '1.10.1'],
    ['~1.0.0', '1.0.0'],
    ['>=1.2.0 <1.5.0', '1.2.0'],
    ['1.x || 2.x', '2.0.0'],
    ['*', '2.0.0'],
    ['latest', '2.0.0'],
    ['3.0.0-beta.1', '3.0.0-beta.1'],
    ['>=3.0.0-alpha', '3.0.0-beta.1'],
    ['^4.0.0', null],
    ['1.0.1', null],
    ['no version', null],
  ])('of several versions %s gives %s', async (wanted, found) => {
    const versions = ['1.0.0', '1.2.0', '1.10.1', '2.0.0', '3.0.0-beta.1'];
    const { emulator } = await start({
      integrations: versions.map((version) => ({ name: 'tickets', version })),
    });
    expect(await versionOf(emulator, 'tickets', wanted)).toBe(found);
  });

  test('may be given, under any name; the latest of those that were never released is the highest', async () => {
    const integrations = ['1.0.0-a', '1.0.0-b'].map((version) => ({
      name: '@ws/my int',
      version,
      title: version,
    }));
    const { emulator } = await start({ integrations });
    expect(await versionOf(emulator, '@ws/my int', 'latest')).toBe('1.0.0-b');
    const { emulator: replaced } = await start({
      integrations: [{ name: 'webchat', version: '0.3.0', title: 'Ours' }],
    });
    expect((await integration(replaced, 'webchat', 'latest')).body).toMatchObject({
      integration: { title: 'Ours' },
    });
    await expect(start({ integrations: [{ name: 'x', version: 'one' }] })).rejects.toThrow(
      'x: "one" is not a version',
    );
  });
});
