import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Returns the path of the list of RDAP servers that `npm start -- rdap` writes. */
export function getRdapListPath(dataFolder: string): string {
  return join(dataFolder, 'rdap.json')
}

/** @returns undefined if it was never downloaded */
export function findRdapList(dataFolder: string): string | undefined {
  const file = getRdapListPath(dataFolder)
  return existsSync(file) ? file : undefined
}
