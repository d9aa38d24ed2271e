// Loaded into a measured process: leaves its peak memory and its processor time in the file BENCH_USAGE_FILE names.
import { writeFileSync } from 'node:fs';

process.on('exit', () => {
  const file = process.env.BENCH_USAGE_FILE;
  if (!file) return;
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
  const usage = { peakMegabytes: maxRSS / 1024, processorSeconds: (userCPUTime + systemCPUTime) / 1e6 };
  writeFileSync(file, JSON.stringify(usage));
});
