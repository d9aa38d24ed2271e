import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    // Tests wait for what they start as much as they work.
    maxWorkers: '100%',
    sequence: { shuffle: true },
    coverage: { provider: 'v8', include: ['src/**/*.ts'] },
  },
});
