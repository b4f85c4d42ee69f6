import { lstatSync, type Stats, statSync } from 'node:fs'
import { lstat, stat } from 'node:fs/promises'
import { AppError } from '#shared/appError.ts'

/**
 * Checks a folder below the temporary folder. Its name can be guessed, so another user may have created it first, or a
 * link in its place.
 * @throws AppError `data/unusable` if it belongs to another user or others can write to it; the system's error if it
 * does not exist
 */
export async function assertOwnFolder(folder: string): Promise<void> {
  assertOwnedByUser(folder, await lstat(folder))
  refuseOpen(folder, await stat(folder))
}

/** Synchronous variant. */
export function assertOwnFolderSync(folder: string): void {
  assertOwnedByUser(folder, lstatSync(folder))
  refuseOpen(folder, statSync(folder))
}

const writableByOthers = 0o022

function assertOwnedByUser(folder: string, { uid }: Stats): void {
  if (process.getuid && uid !== process.getuid()) {
    throw new AppError('data/unusable', `${folder} belongs to another user.`)
  }
}

function refuseOpen(folder: string, stats: Stats): void {
  assertOwnedByUser(folder, stats)
  if (process.getuid && (stats.mode & writableByOthers) !== 0) {
    throw new AppError('data/unusable', `Other users can write to ${folder}.`)
  }
}
