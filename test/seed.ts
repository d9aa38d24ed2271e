/**
 * The seed of this process's random tests. The gate's is always the same, so that a change is judged by what it changed;
 * the long tests (`npm run test:model` and its like) draw one, print it, and take `--seed` to make a run again.
 */
export const SEED = Number(process.env['SEED'] ?? 1);
