import { constants } from 'node:fs'
import { access, mkdir, stat } from 'node:fs/promises'
import { join, posix, win32 } from 'node:path'
import { AppError } from '#shared/appError.ts'

type SandboxInstance = {
  platform: NodeJS.Platform
  home: string
  environment: Readonly<Record<string, string | undefined>>
}

export function getDefaultDataFolder({ platform, home, environment }: SandboxInstance): string {
  if (platform === 'win32') return win32.join(environment.APPDATA ?? win32.join(home, 'AppData', 'Roaming'), 'Steward')
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Steward')
  const base = environment.XDG_DATA_HOME
  // The specification requires relative paths to be ignored: https://specifications.freedesktop.org/basedir-spec/latest
  return posix.join(
    base !== undefined && posix.isAbsolute(base) ? base : posix.join(home, '.local', 'share'),
    'steward',
  )
}

/** Creates the folder with access for this user only, if absent. */
export async function openDataFolder(folder: string): Promise<void> {
  try {
    await mkdir(join(folder, 'logs'), { recursive: true, mode: 0o700 })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw createUnusableError(folder, cause)
  }
}

/** @returns a warning if other users can read the folder */
export async function openFolderWarning(folder: string): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined
  const mode = (await stat(folder)).mode & 0o777
  if ((mode & 0o066) === 0) return undefined
  return `Other users can read the data folder ${folder} (mode ${mode.toString(8)}) and its keys. Run \`chmod 700 ${folder}\`.`
}

export function warnAboutCopy(folder: string): string {
  return `The data folder ${folder} is a copy made while Steward was running. Recent files of sandboxes may be missing. Use \`npm start -- backup DIR\`, or stop Steward before you copy.`
}

function createUnusableError(folder: string, cause: unknown): AppError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new AppError('data/unusable', `The data folder ${folder} cannot be used: ${reason}.`, { cause })
}
