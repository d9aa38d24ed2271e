import { expect, test } from 'vitest';
import { statusRoutes, type ControlPorts } from '../../src/service/status-routes.ts';

function world() {
  const state = {
    readiness: { ready: true, reasons: [] as string[] },
    broken: false,
    approved: [] as string[],
    failures: [] as unknown[],
  };
  const ports: ControlPorts = {
    readiness: () => state.readiness,
    metrics: () =>
      state.broken
        ? Promise.reject(new Error('token'))
        : Promise.resolve({ contentType: 'text/x', body: 'up 1\n' }),
    status: () => Promise.resolve({ sources: [] }),
    rescan: (source, path) => ({ source, path }),
    prune: (source, glob, digest) => ({ source, glob, digest }),
    pause: (forMs) => ({ forMs }),
    resume: () => ({ resumed: true }),
    reload: () => ({ problem: null }),
    approve: (source, halt) => {
      state.approved.push(`${source} ${halt}`);
      return { approved: state.approved.length };
    },
    failed: (error) => state.failures.push(error),
  };
  return { state, open: statusRoutes(ports, null), owner: statusRoutes(ports, ports) };
}

test.each([
  ['/healthz', 'text/plain; charset=utf-8', 'ok\n'],
  ['/readyz', 'text/plain; charset=utf-8', 'ready\n'],
  ['/metrics', 'text/x', 'up 1\n'],
  ['/status?x=1', 'application/json', '{"sources":[]}\n'],
])('GET and HEAD %s', async (target, contentType, body) => {
  const { open, owner } = world();
  const answer = { status: 200, headers: { 'content-type': contentType }, body };
  expect(await open('GET', target)).toEqual(answer);
  expect(await open('HEAD', target)).toEqual(answer);
  expect(await owner('GET', target)).toEqual(answer);
});

test('not ready is 503, with the reasons; alive it is all the same', async () => {
  const { state, open } = world();
  state.readiness = { ready: false, reasons: ['docs is halted: missing', 'the first pass is under way'] };
  expect(await open('GET', '/readyz')).toMatchObject({
    status: 503,
    body: 'not ready\ndocs is halted: missing\nthe first pass is under way\n',
  });
  expect(await open('GET', '/healthz')).toMatchObject({ status: 200 });
});

test('/ lists what there is, for those who ask', async () => {
  const { open, owner } = world();
  const { body } = await open('GET', '/');
  expect(body.match(/\/\w+/gu)).toEqual(['/healthz', '/readyz', '/metrics', '/status']);
  expect((await owner('GET', '/')).body).toBe(
    `${body}POST /approve: approves the halt of a source (?source=NAME&halt=DIGEST)\nPOST /rescan: rescans a path (?source=NAME&path=PATH) or everything\nPOST /prune: removes kept files of a source (?source=NAME&digest=DIGEST&glob=GLOB)\nPOST /pause: pauses until /resume, or for a time (?for=MILLISECONDS)\nPOST /resume: ends a pause\nPOST /reload: reloads the configuration and its secrets\n`,
  );
});

test('the owner approves the halt of a source; others see no such thing', async () => {
  const { state, open, owner } = world();
  expect(await owner('POST', '/approve?source=my%20docs&halt=1a')).toMatchObject({
    status: 200,
    body: '{"approved":1}\n',
  });
  for (const query of ['', '?source=docs', '?halt=1a'])
    expect(await owner('POST', `/approve${query}`)).toMatchObject({ status: 400 });
  expect(await owner('GET', '/approve')).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  expect(await open('POST', '/approve')).toMatchObject({ status: 404 });
  expect(await open('POST', '/rescan')).toMatchObject({ status: 404 });
  expect(await owner('POST', '/rescan?source=a%26b&path=c/d')).toMatchObject({
    body: '{"source":"a&b","path":"c/d"}\n',
  });
  expect(await owner('POST', '/prune?source=a&digest=1a&glob=%2A.md')).toMatchObject({
    body: '{"source":"a","glob":"*.md","digest":"1a"}\n',
  });
  expect(await owner('POST', '/prune?source=a')).toMatchObject({ status: 400 });
  expect(await owner('POST', '/pause?for=7200000')).toMatchObject({ body: '{"forMs":7200000}\n' });
  expect(await owner('POST', '/pause')).toMatchObject({ body: '{"forMs":null}\n' });
  for (const time of ['2h', '0', '-1', '', '1e99'])
    expect(await owner('POST', `/pause?for=${time}`)).toMatchObject({ status: 400 });
  expect(await owner('POST', '/resume')).toMatchObject({ body: '{"resumed":true}\n' });
  expect(state.approved).toEqual(['my docs 1a']);
});

test.each([
  ['GET', '/nothing', 404],
  ['GET', '/status/', 404],
  ['GET', '/__proto__', 404],
  ['GET', '*', 404],
  ['GET', '', 404],
  ['POST', '/status', 405],
  ['DELETE', '/healthz', 405],
  ['OPTIONS', '/', 405],
])('%s %s is %i', async (method, target, status) => {
  expect(await world().open(method, target)).toMatchObject({ status });
});

test('what throws is told to the daemon, not to the client', async () => {
  const { state, open } = world();
  state.broken = true;
  const answer = await open('GET', '/metrics');
  expect(answer.status).toBe(500);
  expect(answer.body).not.toContain('token');
  expect(state.failures).toEqual([new Error('token')]);
});
