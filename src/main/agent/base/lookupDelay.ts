/** Delay in milliseconds after a signature expired until its chain is asked whether it was used: clocks differ. */
export const lookupDelayMs = 65_000
