import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { z } from 'zod'
import type { Log } from '#platform/logging/log.ts'
import { parseJson } from '#platform/parsing/boundedJson.ts'

/** Newest entry of the log, which reveals whether later entries were removed. */
export type Head = z.infer<typeof Head>
const Head = z.object({ sequence: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/) })

/** `closed`: the log was closed cleanly with this head, so no entries follow it. */
const StoredHead = Head.extend({ closed: z.boolean().default(false) })
type StoredHead = z.infer<typeof StoredHead>

/** Stores the head outside the database, in a file that only this OS user may read. */
export type HeadFile = {
  /** Writes the head with a delay. The file may lag behind the log but is never newer. */
  keep(head: Head): void
  /** Writes the pending head. No further heads are accepted. */
  close(head: Head | undefined): Promise<void>
}

const writeDelayMs = 500

/** @returns the stored head, or undefined if the file is missing or cannot be parsed */
export function readHead(file: string): StoredHead | undefined {
  try {
    return StoredHead.parse(parseJson(readFileSync(file, 'utf8')))
  } catch {
    return undefined // missing or damaged: only the log itself can be verified
  }
}

export function createHeadFile({
  file,
  databaseFile,
  log,
}: {
  file: string
  databaseFile: string
  log: Log
}): HeadFile {
  let nextHead: Head | StoredHead | undefined
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const head = nextHead
    nextHead = undefined
    if (!head) return
    writing = writing
      .then(async () => {
        // After a power failure the log may lack its last entries. A head that survived them would raise a false alarm.
        await writeDurably(`${databaseFile}-wal`)
        await writeDurably(databaseFile)
        await writeAtomically(file, `${JSON.stringify(head)}\n`)
      })
      .catch((error: unknown) => log.error('failed to store the head of the activity log', { error }))
  }

  markOpen(file, log)
  return {
    keep(head) {
      nextHead = head
      timer ??= setTimeout(write, writeDelayMs)
    },
    close(head) {
      nextHead = head && { ...head, closed: true }
      write()
      return writing
    },
  }
}

/** From now on the log may contain entries that are missing from the file. */
function markOpen(file: string, log: Log): void {
  const storedHead = readHead(file)
  if (!storedHead?.closed) return
  const { sequence, hash } = storedHead
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ sequence, hash })}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (error) {
    log.error('failed to store the head of the activity log', { error })
  }
}

async function writeDurably(file: string): Promise<void> {
  const opened = await open(file, 'r+').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw cause
  })
  await opened?.sync().finally(() => opened.close())
}

async function writeAtomically(file: string, text: string): Promise<void> {
  const beside = `${file}.new`
  const opened = await open(beside, 'w', 0o600)
  try {
    await opened.writeFile(text)
    await opened.sync()
  } finally {
    await opened.close()
  }
  await rename(beside, file)
}
