import { lstat } from 'node:fs/promises'
import { AppError } from '../../shared/appError.ts'

/**
 * A folder below the temporary folder has a name that others can guess, and make first: as theirs, or as a link to
 * somewhere else.
 * @throws AppError `data/unusable` when it belongs to another user; the system's own error when it is not there.
 */
export async function requireOwnFolder(folder: string): Promise<void> {
  const { uid } = await lstat(folder)
  if (process.getuid && uid !== process.getuid()) {
    throw new AppError('data/unusable', `${folder} belongs to another user.`)
  }
}
