import { basename, dirname } from 'node:path';

/**
 * Gives the files of a bundle names without a hash, so that a file of one release has the same name in the next and a
 * stack trace can be compared between them. A file that is loaded on demand is called after what is loaded, a shared one
 * after the largest thing in it.
 */
export function withStableNames({ outputFiles, metafile }) {
  const names = stableNames(metafile.outputs);
  const pattern = new RegExp([...names.keys()].map((name) => name.replaceAll('.', '\\.')).join('|'), 'gu');
  return outputFiles.map(({ path, text }) => {
    const file = basename(path);
    const name = names.get(file.replace(/\.map$/u, ''));
    return {
      path: `${dirname(path)}/${file.endsWith('.map') ? `${name}.map` : name}`,
      text: text.replaceAll(pattern, (old) => names.get(old)),
    };
  });
}

/** The new name of every file of code, by its old one. */
function stableNames(outputs) {
  const names = new Map();
  const taken = new Set();
  const files = Object.entries(outputs).filter(([path]) => path.endsWith('.js'));
  // Entry points come first and get the names they would have alone; what is left is sorted, so that an order of files does
  // not decide which of two gets the number.
  const described = files.map(([path, output]) => ({
    path,
    isEntry: output.entryPoint !== undefined,
    ...describe(output),
  }));
  described.sort((a, b) => Number(b.isEntry) - Number(a.isEntry) || (a.from < b.from ? -1 : 1));
  for (const { path, name } of described) {
    let free = name;
    for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`;
    taken.add(free);
    names.set(basename(path), `${free}.js`);
  }
  return names;
}

function describe({ entryPoint, inputs }) {
  const bySize = Object.entries(inputs).sort(([, a], [, b]) => b.bytesInOutput - a.bytesInOutput);
  // What holds none of the inputs holds the few functions that esbuild adds.
  const from = entryPoint ?? bySize[0]?.[0] ?? 'runtime.js';
  const [, scope, name] = /^.*node_modules\/(?:@([^/]+)\/)?([^/]+)/u.exec(from) ?? [];
  if (name === undefined) return { from, name: basename(from).replace(/\.[jt]s$/u, '') };
  return { from, name: scope === undefined ? name : `${scope}-${name}` };
}
