/**
 * Delay between the expiry of a signature and the query whether it was used, in milliseconds. Compensates for clock
 * skew.
 */
export const lookupDelayMs = 65_000
