import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** Keys are short; whatever is longer is another file. */
const maxBytes = 16 * 1024

/**
 * Reads a file with a secret that its operator wrote: a plain file, of this user, that no other user can read or write.
 * It is opened once, so what was checked is what is read.
 * @throws Error that says what is wrong with it, and nothing of what it holds
 */
export function readPrivateFile(file: string): string {
  const opened = openPlainFile(file)
  try {
    const { mode, uid, size } = statPrivateFile(opened)
    // Windows has no such modes; the folders of a user are closed there.
    if (process.platform !== 'win32') {
      if (uid !== process.getuid?.()) throw new Error('belongs to another user.')
      if ((mode & 0o077) !== 0) throw new Error('can be read by other users: run `chmod 600` on it.')
    }
    if (size > maxBytes) throw new Error('is too large.')
    return readFileSync(opened, 'utf8')
  } finally {
    closeSync(opened)
  }
}

function openPlainFile(file: string): number {
  try {
    // A pipe would wait for its writer.
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    throw new Error(code === 'ELOOP' ? 'is a symbolic link.' : 'cannot be read.', { cause })
  }
}

function statPrivateFile(opened: number) {
  const stat = fstatSync(opened)
  if (!stat.isFile()) throw new Error('is no plain file.')
  return stat
}
