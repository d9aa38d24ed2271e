import { setFlagsFromString } from 'node:v8';

/** Garbage may take this much of what is in use before it is collected, percent. */
const GARBAGE_PERCENT = 20;

/**
 * Has V8 collect its old objects sooner, and let none be born old. What belongs to a file that is being sent lives for
 * some milliseconds; V8 takes that for a long life, and then keeps whatever such an object refers to (decision 0026).
 */
export function keepHeapSmall(): void {
  setFlagsFromString(`--heap-growing-percent=${GARBAGE_PERCENT}`);
  setFlagsFromString('--no-allocation-site-pretenuring');
}
