import { isForPrograms, reportDefect, runCommandLine } from './command-line.ts';

// Of a promise that nothing waits for as well. Node would end the process too, with places in the bundle.
process.on('uncaughtException', (error) => {
  process.exit(reportDefect(error, isForPrograms(process.argv.slice(2))));
});
process.exitCode = await runCommandLine(process.argv.slice(2));
