import { lstat } from 'node:fs/promises'

/** Whether there is a file, folder or symbolic link at the path. */
export async function pathExists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  )
}
