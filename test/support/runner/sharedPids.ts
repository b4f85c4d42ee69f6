/** Processes, including their children, that outlive a test file because all files of its worker share them. */
export const sharedPids = new Set<number>()
