import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Writable } from 'node:stream'
import { z } from 'zod'
import { parseJsonOrUndefined } from '#platform/parsing/parseJsonOrUndefined.ts'
import { AppError } from '#shared/appError.ts'
import { buildPerlScript, formatPerlArgument } from '../../perlScript.ts'
import type { IdRange } from './idRange.ts'

export type Owner = { uid: number; gid: number; seconds: number; mode: number }

const LayerReport = z.object({
  bytes: z.int(),
  bash: z
    .object({
      /** Machine number of elf(5), or 0 if the file is not an ELF program. */
      architecture: z.int(),
      /** Program interpreter, and whether it exists. */
      loader: z.string().optional(),
      loaded: z.boolean().optional(),
    })
    .nullable(),
})
export type LayerReport = z.infer<typeof LayerReport>

/** Creates the files of an image, in order. Paths begin with `/` and contain no `.` or `..` segments. */
export type LayerWriter = {
  /** Starts a layer on top of the previous layers. */
  layer(): Promise<void>
  folder(path: string, owner: Owner): Promise<void>
  file(path: string, owner: Owner, content: { size: number; chunks: AsyncIterable<Uint8Array> }): Promise<void>
  link(path: string, owner: Owner, target: string): Promise<void>
  /** Creates a hard link to an existing file. */
  sameAs(path: string, target: string): Promise<void>
  /** Removes a path of previous layers. */
  without(path: string): Promise<void>
  /** Removes the content of previous layers from this folder. */
  onlyOwn(path: string): Promise<void>
  end(): Promise<LayerReport>
  /** Ends the writer immediately, even if it is not finished. */
  close(): Promise<void>
}

const flushBytes = 256 * 1024
const detailBytes = 2_000

/** @param folder an existing, empty folder that belongs to the user that runs Steward */
export function createLayerWriter(options: { perl: string; range: IdRange; folder: string }): LayerWriter {
  const { perl, range, folder } = options
  const script = [buildPerlScript('range', 'layer'), formatPerlArgument({ range, folder })]
  const child = spawn(perl, ['-e', ...script], { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe'] })
  const { stdin, stdout, stderr } = child
  let said = ''
  let complaint = ''
  stdout.on('data', (bytes: Buffer) => {
    said += bytes.toString('latin1')
  })
  stderr.on('data', (bytes: Buffer) => {
    if (complaint.length < detailBytes) complaint += bytes.toString('utf8')
  })
  stdin.on('error', () => {}) // already exited, `ended` has the reason
  const ended = waitForEnd(child)
  const out = createBuffer(stdin, ended)

  const tell = (...fields: (string | number)[]): Promise<void> => {
    const text = Buffer.from(fields.join('\0'))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(text.length)
    return out.write(Buffer.concat([length, text]))
  }
  const toFailure = (): AppError => toWriteError(complaint.trim())
  const telling = async (...fields: (string | number)[]): Promise<void> => {
    await tell(...fields).catch(async () => {
      await ended
      throw toFailure()
    })
  }

  return {
    layer: () => telling('layer'),
    folder: (path, { mode, uid, gid, seconds }) => telling('folder', path, mode, uid, gid, seconds),
    async file(path, { mode, uid, gid, seconds }, { size, chunks }) {
      await telling('file', path, mode, uid, gid, seconds, size)
      let written = 0
      for await (const chunk of chunks) {
        written += chunk.length
        if (written > size) break
        await out.write(chunk).catch(async () => {
          await ended
          throw toFailure()
        })
      }
      if (written !== size) throw new AppError('image/failed', `The archive ends in the middle of ${path}.`)
    },
    link: (path, { uid, gid }, target) => telling('link', path, uid, gid, target),
    sameAs: (path, target) => telling('same', path, target),
    without: (path) => telling('without', path),
    onlyOwn: (path) => telling('only', path),
    async end() {
      await telling('end')
      await out.flush().catch(() => {}) // the exit code and report explain the error
      stdin.end()
      const code = await ended
      const report = LayerReport.safeParse(parseJsonOrUndefined(said)).data
      if (code !== 0 || report === undefined) throw toFailure()
      return report
    },
    async close() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function waitForEnd(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', (code) => resolve(code))
  })
}

/** Combines small writes, because an image has tens of thousands of entries. */
function createBuffer(to: Writable, ended: Promise<unknown>) {
  let chunks: Uint8Array[] = []
  let size = 0
  const flush = async (): Promise<void> => {
    if (to.destroyed || to.writableEnded) throw new Error('The writer has exited.')
    const bytes = Buffer.concat(chunks)
    chunks = []
    size = 0
    if (to.write(bytes)) return
    await Promise.race([once(to, 'drain'), ended.then(() => Promise.reject(new Error('The writer has exited.')))])
  }
  return {
    flush,
    async write(bytes: Uint8Array): Promise<void> {
      chunks.push(bytes)
      size += bytes.length
      if (size >= flushBytes) await flush()
    },
  }
}

function toWriteError(complaint: string): AppError {
  const [, digits = '', path = ''] = /^(\d+) (.*)$/s.exec(complaint) ?? []
  const { ENOSPC, EDQUOT, ENOTDIR, ENOENT, ELOOP, ENAMETOOLONG } = constants.errno
  const number = Number(digits)
  if (number === ENOSPC || number === EDQUOT) {
    return new AppError('file/no-space', 'Not enough disk space on this computer for the files of the image.')
  }
  if ([ENOTDIR, ENOENT, ELOOP, ENAMETOOLONG].includes(number)) {
    return new AppError('image/failed', `The archive is inconsistent: ${path} cannot be created.`)
  }
  const reason = digits === '' ? complaint || 'the process was killed' : `${path}, error ${digits}`
  return new AppError('image/failed', `The files of the image could not be written: ${reason}.`)
}
