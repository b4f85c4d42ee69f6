import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Keys are short, so a longer file is not a key. */
const maxBytes = 16 * 1024

/**
 * Reads a file with a secret. It must be a regular file of this user that no other user can read or write. The file is
 * opened once, so that its content cannot change between the check and the read.
 * @throws Error that describes the problem without quoting the content
 */
export function readPrivateFile(file: string): string {
  const opened = openPlainFile(file)
  try {
    const { mode, uid, size } = statPrivateFile(opened)
    // Windows has no such modes. The user's folders are private there.
    if (process.platform !== 'win32') {
      if (uid !== process.getuid?.()) throw new Error('belongs to another user.')
      if ((mode & 0o077) !== 0) throw new Error('can be read by other users. Run `chmod 600` on it.')
    }
    if (size > maxBytes) throw new Error('is too large.')
    return readFileSync(opened, 'utf8')
  } finally {
    closeSync(opened)
  }
}

function openPlainFile(file: string): number {
  try {
    // `O_NONBLOCK` avoids blocking on a pipe without a writer.
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    throw new Error(code === 'ELOOP' ? 'is a symbolic link.' : 'cannot be read.', { cause })
  }
}

function statPrivateFile(opened: number) {
  const stat = fstatSync(opened)
  if (!stat.isFile()) throw new Error('is not a regular file.')
  return stat
}
