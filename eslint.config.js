import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { importX } from 'eslint-plugin-import-x';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';

/**
 * The rooms of src/ and what each may import. `domain` imports nothing of ours; the stages import `domain` and
 * never each other; `sync` composes the stages, `run` everything, and `cli` stands on it. The emulator stands alone
 * but for patterns and its page, so that a mistake in our client is not repeated by the thing that checks it.
 */
const mayImport = {
  domain: [],
  config: ['domain'],
  files: ['domain'],
  platform: ['domain'],
  store: ['domain'],
  service: ['domain'],
  notify: ['domain', 'words'],
  cluster: ['domain'],
  emulator: [
    'domain/pattern.ts',
    'page/frame.ts',
    'page/html.ts',
    'page/live-script.ts',
    'page/markup.ts',
    'service/amounts.ts',
    'service/page-streams.ts',
    'service/request-origin.ts',
    'service/system-clock.ts',
  ],
  words: ['domain', 'config', 'service'],
  sync: ['domain', 'config', 'files', 'store', 'service', 'words'],
  page: ['domain', 'config', 'service', 'sync', 'words'],
  run: [
    'domain',
    'config',
    'files',
    'platform',
    'store',
    'service',
    'notify',
    'cluster',
    'emulator',
    'sync',
    'words',
    'page',
  ],
};

/** The floors of src/sync/: each stands on those below it. */
const floors = ['sources', 'catalog', 'plan', 'pass', 'daemon'];

const zones = [
  ...Object.entries(mayImport).map(([room, allowed]) => ({
    target: `./src/${room}`,
    from: './src',
    except: [room, ...allowed].map((name) => `./${name}`),
    message: `src/${room} may import only: ${allowed.join(', ') || 'nothing of ours'}.`,
  })),
  ...floors.map((floor, height) => ({
    target: `./src/sync/${floor}`,
    from: './src/sync',
    except: [...floors.slice(0, height + 1), 'events.ts'].map((name) => `./${name}`),
    message: `src/sync/${floor} may import only what is below it: ${floors.slice(0, height).join(', ') || 'nothing'}.`,
  })),
];

export default defineConfig(
  { ignores: ['dist/', 'bench/results/', 'coverage/', 'node_modules/', 'examples/', '.stryker-tmp/'] },
  tseslint.configs.strict,
  {
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver()] },
    rules: {
      'import-x/no-default-export': 'error',
      'import-x/no-restricted-paths': ['error', { zones }],
      eqeqeq: 'error',
      'no-console': 'error',
      'no-restricted-syntax': [
        'error',
        {
          selector:
            "ImportDeclaration[source.value='zod'] > :matches(ImportSpecifier, ImportDefaultSpecifier)",
          message: 'Import it as * as z: else the bundle holds all its languages.',
        },
      ],
    },
  },
  {
    // The process is its owner's: its signals, its end and its output are the command's business alone.
    files: ['src/run/**'],
    rules: {
      'no-restricted-properties': [
        'error',
        ...['on', 'once', 'off', 'exit', 'exitCode', 'stdout', 'stderr', 'kill', 'abort', 'argv', 'env'].map(
          (property) => ({ object: 'process', property, message: 'Only src/cli may do that.' }),
        ),
      ],
    },
  },
  { files: ['src/**'], rules: { complexity: ['error', 20], 'max-params': ['error', 5] } },
  {
    files: ['src/**/*.ts', 'test/**/*.ts'],
    extends: [tseslint.configs.strictTypeCheckedOnly],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
    },
  },
  {
    files: ['*.config.{js,ts}', 'bench/**', 'packaging/**', 'scripts/**'],
    rules: { 'import-x/no-default-export': 'off', 'no-console': 'off' },
  },
);
