import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeInRange } from '#host/runtimes/bubblewrap/images/inRange.ts'

/**
 * Folders of this test file. `leakGuard.ts` removes them at the end, after it checks for processes that still use them.
 */
const folders: string[] = []

/** Creates an empty folder that is removed at the end of the test file. */
export function temporaryFolder(name = 'test'): string {
  const folder = mkdtempSync(join(tmpdir(), `steward-${name}-`))
  folders.push(folder)
  return folder
}

export function listTestFolders(): readonly string[] {
  return folders
}

export async function removeTestFolders(): Promise<void> {
  for (const folder of folders) {
    // Sandboxes of an ordinary user may have created files owned by subordinate ids.
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }).catch(() =>
      removeInRange(folder),
    )
  }
  folders.length = 0
}
