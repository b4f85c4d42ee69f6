import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'

/** Programs of the host that are required for sandboxes, by absolute path. */
export type HostTools = Readonly<Record<ToolName, string>>
type ToolName = 'bwrap' | 'perl'

const defaultFolders = ['/usr/bin', '/bin', '/usr/sbin', '/sbin', '/usr/local/bin']
const packages: Record<ToolName, string> = {
  bwrap: 'bubblewrap',
  perl: 'perl-base',
}

/** Missing tools as a sentence, and the command that installs them. */
export type MissingTools = { missing: string; cure: string }

export async function findHostTools(folders: readonly string[] = defaultFolders): Promise<HostTools | MissingTools> {
  const names: ToolName[] = ['bwrap', 'perl']
  const paths = await Promise.all(names.map(async (name) => [name, await findExecutable(name, folders)] as const))
  const missing = paths.filter(([, path]) => path === undefined).map(([name]) => name)
  if (missing.length === 0) return Object.fromEntries(paths) as HostTools // all tools were found
  const packageNames = [...new Set(missing.map((name) => packages[name]))].join(' ')
  const sentence = `Missing on this computer: ${missing.join(', ')}. On Debian and Ubuntu: apt-get install ${packageNames}`
  return { missing: sentence, cure: `sudo apt-get install ${packageNames}` }
}

export async function findExecutable(
  name: string,
  folders: readonly string[] = defaultFolders,
): Promise<string | undefined> {
  for (const folder of folders) {
    const path = join(folder, name)
    const usable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (usable) return path
  }
  return undefined
}
