import mime from 'mime-types';

/** Leaves out of a bundle what packages do at every start and what botsync makes no use of: a third of a command's start. */
export const leanPackages = {
  name: 'lean-packages',
  setup(build) {
    // yargs draws help with them, which is never asked for (src/cli/parser.ts). They make ready for every emoji there is.
    build.onResolve({ filter: /^(?:cliui|string-width)$/ }, ({ path, importer }) =>
      importer.includes('/node_modules/yargs/') ? { path, namespace: 'left-out' } : undefined,
    );
    build.onLoad({ filter: /./, namespace: 'left-out' }, () => ({
      contents: `export default () => { throw new Error('yargs was asked for help, which src/cli/help/ writes'); };`,
    }));
    // Of undici, what src/platform/dispatcher.ts makes connections with: no fetch, no WebSocket, no mocks, no HTTP/2.
    build.onLoad({ filter: /\/node_modules\/undici\/index\.js$/ }, () => ({
      contents: `exports.Agent = require('./lib/dispatcher/agent');
exports.Pool = require('./lib/dispatcher/pool');
exports.EnvHttpProxyAgent = require('./lib/dispatcher/env-http-proxy-agent');
exports.buildConnector = require('./lib/core/connect');`,
    }));
    build.onLoad({ filter: /\/node_modules\/undici\/lib\/dispatcher\/client-h2\.js$/ }, () => ({
      contents: `module.exports = () => { throw new Error('HTTP/2 was not asked for'); };`,
    }));
    // Of mime-types, the table alone that it makes of all that is known of 2,500 types. The files keep their places, so that
    // the licences are found.
    build.onLoad({ filter: /\/node_modules\/mime-types\/index\.js$/ }, () => ({
      contents: `import table from 'mime-db';
export default { types: Object.assign(Object.create(null), JSON.parse(table)) };`,
    }));
    build.onLoad({ filter: /\/node_modules\/mime-db\/index\.js$/ }, () => ({
      contents: JSON.stringify(mime.types),
      loader: 'text',
    }));
  },
};
