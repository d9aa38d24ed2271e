import { isForPrograms, reportDefect, runCommandLine } from './command-line.ts';

// Also for unhandled rejections. Node itself would print positions in the bundle.
process.on('uncaughtException', (error) => {
  process.exit(reportDefect(error, isForPrograms(process.argv.slice(2))));
});
process.exitCode = await runCommandLine(process.argv.slice(2));
