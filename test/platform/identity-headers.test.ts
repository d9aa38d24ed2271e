import { describe, expect, test } from 'vitest';
import { identityHeaders } from '../../src/platform/api.ts';
import { IDENTITY } from './files-fixture.ts';

describe('the identity', () => {
  test('names what is set', () => {
    expect(identityHeaders({})).toEqual({});
    expect(
      identityHeaders({
        integrationId: 'int-1',
        integrationAlias: 'alias',
        integrationName: 'name',
        userId: 'user-1',
        userRole: 'owner',
      }),
    ).toEqual(IDENTITY);
    expect(identityHeaders({ userId: '' })).toEqual({ 'x-user-id': '' });
  });
});
