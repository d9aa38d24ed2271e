import mime from 'mime-types';

/** Leaves out of a bundle what packages do at every start and what botsync makes no use of: a fifth of a command's start. */
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
