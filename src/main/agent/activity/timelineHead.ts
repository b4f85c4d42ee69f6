import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { z } from 'zod'
import { parseJson } from '#platform/boundedJson.ts'
import type { Log } from '#platform/log.ts'

/** The newest entry: whoever knows it finds out that entries were taken off the end. */
export type Head = z.infer<typeof Head>
const Head = z.object({ sequence: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/) })

/** `closed`: the log was closed in order with this head, so that nothing comes after it. */
const KeptHead = Head.extend({ closed: z.boolean().default(false) })
type KeptHead = z.infer<typeof KeptHead>

/** Keeps the head outside of the database, in a file of its own that only this user may read. */
export type HeadFile = {
  /** Soon: what is kept may lag behind the log, and never runs ahead of it. */
  keep(head: Head): void
  /** Writes what is still to be kept, and that nothing comes after it. */
  close(head: Head | undefined): Promise<void>
}

const laterMs = 500

/** @returns undefined where there is none, or none that can be understood */
export function readHead(file: string): KeptHead | undefined {
  try {
    return KeptHead.parse(parseJson(readFileSync(file, 'utf8')))
  } catch {
    return undefined // never written, or damaged: the log alone has to prove itself
  }
}

export function headFile({ file, databaseFile, log }: { file: string; databaseFile: string; log: Log }): HeadFile {
  let wanted: Head | KeptHead | undefined
  let timer: NodeJS.Timeout | undefined
  let writing = Promise.resolve()

  const write = (): void => {
    clearTimeout(timer)
    timer = undefined
    const head = wanted
    wanted = undefined
    if (!head) return
    writing = writing
      .then(async () => {
        // After a power cut the log may lack its last entries; a head that had survived them would raise a false alarm.
        await flushed(`${databaseFile}-wal`)
        await flushed(databaseFile)
        await writeBeside(file, `${JSON.stringify(head)}\n`)
      })
      .catch((failure: unknown) => log.error('the head of the log could not be kept', { failure }))
  }

  reopen(file, log)
  return {
    keep(head) {
      wanted = head
      timer ??= setTimeout(write, laterMs)
    },
    close(head) {
      wanted = head && { ...head, closed: true }
      write()
      return writing
    },
  }
}

/** From now on there are entries that the file does not know of yet. */
function reopen(file: string, log: Log): void {
  const kept = readHead(file)
  if (!kept?.closed) return
  const { sequence, hash } = kept
  try {
    writeFileSync(`${file}.new`, `${JSON.stringify({ sequence, hash })}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  } catch (failure) {
    log.error('the head of the log could not be kept', { failure })
  }
}

async function flushed(file: string): Promise<void> {
  const opened = await open(file, 'r+').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw cause
  })
  await opened?.sync().finally(() => opened.close())
}

async function writeBeside(file: string, text: string): Promise<void> {
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
