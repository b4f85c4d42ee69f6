import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** Where `npm start -- rdap` keeps the list of RDAP servers. */
export function keptRdapList(dataFolder: string): string {
  return join(dataFolder, 'rdap.json')
}

/** @returns undefined where it was never fetched */
export function rdapListIn(dataFolder: string): string | undefined {
  const file = keptRdapList(dataFolder)
  return existsSync(file) ? file : undefined
}
