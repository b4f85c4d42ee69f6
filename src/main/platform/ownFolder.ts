import { lstatSync, type Stats, statSync } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { AppError } from '#shared/appError.ts'

/**
 * A folder below the temporary folder has a name that others can guess, and make first: as theirs, or as a link to
 * somewhere else.
 * @throws AppError `data/unusable` when it belongs to another user, or others may put files into it; the system's own
 * error when it is not there.
 */
export async function requireOwnFolder(folder: string): Promise<void> {
  refuseForeign(folder, await lstat(folder))
  refuseOpen(folder, await stat(folder))
}

/** Synchronous variant. */
export function requireOwnFolderNow(folder: string): void {
  refuseForeign(folder, lstatSync(folder))
  refuseOpen(folder, statSync(folder))
}

const writableByOthers = 0o022

function refuseForeign(folder: string, { uid }: Stats): void {
  if (process.getuid && uid !== process.getuid()) {
    throw new AppError('data/unusable', `${folder} belongs to another user.`)
  }
}

function refuseOpen(folder: string, stats: Stats): void {
  refuseForeign(folder, stats)
  if (process.getuid && (stats.mode & writableByOthers) !== 0) {
    throw new AppError('data/unusable', `Other users may put files into ${folder}.`)
  }
}
