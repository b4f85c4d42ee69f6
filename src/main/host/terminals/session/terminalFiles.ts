import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Log } from '#platform/logging/log.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'
import { TerminalRecord } from '#shared/contract/hostIpc.ts'
import type { SandboxId, TerminalId } from '#shared/ids.ts'
import { CarriedMark } from '#shared/terminalMarks.ts'

/** Terminal sizes in order. Each applies from its cursor. */
const SizeChange = z.object({ cursor: z.int(), cols: z.int(), rows: z.int() })
export type SizeChange = z.infer<typeof SizeChange>

const TerminalMeta = z.object({
  version: z.literal(1),
  record: TerminalRecord,
  sizes: z.array(SizeChange).min(1),
  /** Cursor at which the screen got stuck. Only later output is drawn. */
  drawnFrom: z.int().optional(),
  /** Shared only with the shell and its viewers, so that displayed files cannot forge marks. */
  marksKey: z.string().optional(),
})
export type TerminalMeta = z.infer<typeof TerminalMeta>

/** Snapshot with command marks, positioned after its first `at` bytes. */
const SavedMarks = z.object({ at: z.int().min(0), marks: z.array(CarriedMark) })
export type SavedScreen = { bytes: Uint8Array<ArrayBuffer>; marks?: z.infer<typeof SavedMarks> | undefined }

/** Folder of one terminal: its record, its output and, after its exit, its last screen. */
export type TerminalFiles = {
  readonly folder: string
  /** Writes the newest state. Skips superseded states. Never rejects. */
  save(meta: TerminalMeta): Promise<void>
  saveScreen(drawn: SavedScreen): Promise<void>
  /** @returns undefined if it was never saved */
  readScreen(): Promise<SavedScreen | undefined>
  remove(): Promise<void>
}

export async function createTerminalFiles(folder: string, log: Log): Promise<TerminalFiles> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const screenPath = join(folder, 'screen.ansi')
  const marksPath = join(folder, 'marks.json')
  let newest: TerminalMeta | undefined
  let saving: Promise<void> | undefined
  let removed = false

  const saveAll = async (): Promise<void> => {
    while (newest && !removed) {
      const meta = newest
      newest = undefined
      await replaceFile(join(folder, 'meta.json'), JSON.stringify(meta))
    }
  }

  const save = (meta: TerminalMeta): Promise<void> => {
    newest = meta
    saving ??= saveAll()
      .catch((error: unknown) => log.error('failed to save a terminal', { folder, error }))
      .then(() => {
        saving = undefined
        return newest && !removed ? save(newest) : undefined
      })
    return saving
  }

  return {
    folder,
    save,
    async saveScreen({ bytes, marks }) {
      await replaceFile(marksPath, JSON.stringify(marks ?? null))
      await replaceFile(screenPath, bytes)
    },
    async readScreen() {
      const drawn = await readFile(screenPath).catch(() => undefined)
      if (!drawn) return undefined
      const marksText = await readFile(marksPath, 'utf8').catch(() => 'null')
      return { bytes: new Uint8Array(drawn), marks: SavedMarks.safeParse(parseJson(marksText)).data }
    },
    async remove() {
      removed = true
      await saving
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export function getTerminalFolder(root: string, sandboxId: SandboxId, terminalId: TerminalId): string {
  return join(root, sandboxId, terminalId)
}

/** Lists all terminals of previous processes. Removes folders without a readable record. */
export async function listTerminals(root: string, log: Log): Promise<TerminalMeta[]> {
  const terminals: TerminalMeta[] = []
  for (const folder of await listTerminalFolders(root)) {
    try {
      terminals.push(TerminalMeta.parse(parseJson(await readFile(join(folder, 'meta.json'), 'utf8'))))
    } catch (error) {
      log.warn('removing a terminal without a readable record', { folder, error })
      await rm(folder, { recursive: true, force: true })
    }
  }
  return terminals
}

async function listTerminalFolders(root: string): Promise<string[]> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  const folders: string[] = []
  for (const sandbox of await readdir(root)) {
    for (const terminal of await readdir(join(root, sandbox))) folders.push(join(root, sandbox, terminal))
  }
  return folders
}

/** Writes atomically, so that other processes see the old or the new file. */
async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(`${path}.new`, content, { mode: 0o600 })
  await rename(`${path}.new`, path)
}
