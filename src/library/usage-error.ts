import { EXIT } from '../domain/exit-code.ts';

/** Something that the user can mend. Its message is all that is shown: it names the place, the reason and the mend. */
export class UsageError extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number = EXIT.usage) {
    super(message);
    this.name = 'UsageError';
    this.exitCode = exitCode;
  }
}
