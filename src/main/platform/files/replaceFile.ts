import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file atomically and durably, readable by this user only. The content is flushed before the rename, and the
 * rename before the function returns. A crash leaves the old or the new file, and possibly an unused `.new` file.
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
  await syncFolder(dirname(file))
}

/** Removes the file and any `.new` file that remains after a crash. */
export async function removeFile(file: string): Promise<void> {
  await rm(`${file}.new`, { force: true })
  await rm(file, { force: true })
  await syncFolder(dirname(file))
}

/** Not supported on Windows. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
