import type { Identity } from '../domain/identity.ts';

/** The optional identity headers, those that are set (interface.md, Create or update a file: Headers). */
export function identityHeaders(identity: Identity): Record<string, string> {
  const headers: Record<string, string | undefined> = {
    'x-integration-id': identity.integrationId,
    'x-integration-alias': identity.integrationAlias,
    'x-integration-name': identity.integrationName,
    'x-user-id': identity.userId,
    'x-user-role': identity.userRole,
  };
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
