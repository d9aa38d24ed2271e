// Rolls the library's types up into one file, so that nothing of how it is made, and of what it is made, can be imported.
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

/** The declarations of src/run/botsync.ts, with all that they name. */
export async function libraryTypes() {
  const bundle = await rollup({
    input: 'src/run/botsync.ts',
    external: (id) => /^(?:node:|[^./])/u.test(id),
    plugins: [dts({ tsconfig: 'tsconfig.json' })],
  });
  const { output } = await bundle.generate({ format: 'es' });
  await bundle.close();
  return output[0].code;
}
