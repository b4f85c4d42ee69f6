import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file for this user only, atomically and durably: the content is flushed before the rename, and the rename
 * before it returns. A crash leaves the old file or the new one, and possibly an unused `.new`.
 */
export async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.new`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await rm(fresh, { force: true })
  const handle = await open(fresh, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(fresh, file)
  await settleFolder(dirname(file))
}

/** Removes it, and what a crash has left of its successor. */
export async function removeFile(file: string): Promise<void> {
  await rm(`${file}.new`, { force: true })
  await rm(file, { force: true })
  await settleFolder(dirname(file))
}

/** Windows has no such thing for a folder. */
async function settleFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
