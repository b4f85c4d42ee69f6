/** Processes that outlive a test file, since all files of its worker share them, with what they start. */
export const sharedPids = new Set<number>()
