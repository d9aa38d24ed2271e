// Loaded into a measured process: leaves its peak memory (kilobytes) in the file BENCH_MEMORY_FILE names.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const file = process.env.BENCH_MEMORY_FILE;
  if (file) writeFileSync(file, String(process.resourceUsage().maxRSS));
});
