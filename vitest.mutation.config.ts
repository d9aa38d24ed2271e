import { defineConfig } from 'vitest/config';

/** For `npm run test:mutation`: the pure rules, by their own tests alone. */
export default defineConfig({ test: { include: ['test/domain/**/*.test.ts'] } });
