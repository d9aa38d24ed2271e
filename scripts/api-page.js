// Writes docs/API.md from the docstrings of the library; with --check it only says whether the page is as they are.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { Application } from 'typedoc';
import { libraryTypes } from './library-types.js';

const PAGE = 'docs/API.md';

const written = await apiPage();
if (!process.argv.includes('--check')) writeFileSync(PAGE, written);
else if (readFileSync(PAGE, 'utf8') !== written) {
  console.error(`${PAGE} is not as the docstrings are: npm run docs:api`);
  process.exitCode = 1;
}

async function apiPage() {
  const directory = mkdtempSync(join(tmpdir(), 'botsync-api-'));
  try {
    const types = join(directory, 'botsync.d.ts');
    writeFileSync(types, await libraryTypes());
    const tsconfig = join(directory, 'tsconfig.json');
    const compilerOptions = { strict: true, module: 'nodenext', target: 'es2023', types: ['node'] };
    const typeRoots = [join(process.cwd(), 'node_modules/@types')];
    const project = { compilerOptions: { ...compilerOptions, typeRoots }, files: [types] };
    writeFileSync(tsconfig, JSON.stringify(project));
    const app = await Application.bootstrapWithPlugins({
      plugin: ['typedoc-plugin-markdown'],
      entryPoints: [types],
      tsconfig,
      out: directory,
      logLevel: 'Warn',
      // A type that is named and not there would be a hole in the page.
      treatWarningsAsErrors: true,
      readme: 'none',
      disableSources: true,
      hideBreadcrumbs: true,
      hidePageHeader: true,
      outputFileStrategy: 'modules',
      entryFileName: 'API',
      sort: ['source-order'],
      groupOrder: ['Functions', 'Interfaces', 'Classes', 'Type Aliases'],
      parametersFormat: 'table',
      interfacePropertiesFormat: 'table',
      classPropertiesFormat: 'table',
      typeAliasPropertiesFormat: 'table',
      typeDeclarationFormat: 'table',
      tableColumnSettings: {
        hideInherited: true,
        hideModifiers: true,
        hideOverrides: true,
        hideSources: true,
      },
      excludeExternals: true,
      useHTMLAnchors: false,
      name: 'botsync',
    });
    const read = await app.convert();
    if (read === undefined) throw new Error('the sources could not be read');
    await app.generateOutputs(read);
    if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('typedoc complains, see above');
    const page = readFileSync(join(directory, 'API.md'), 'utf8');
    return await format(`<!-- Written by scripts/api-page.js. Edit the docstrings instead. -->\n\n${page}`, {
      ...(await resolveConfig(PAGE)),
      filepath: PAGE,
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
