/** The platform is asked what became of a file so long after the store took its last byte, milliseconds. */
export const FIRST_ASKED_AFTER_MS = 1000;
