import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { AppError } from '#shared/appError.ts'
import type { FileState } from '#shared/contract/files.ts'
import { maxRangeBytes } from '#shared/contract/hostIpc.ts'
import type { SandboxId } from '#shared/ids.ts'
import type { HostCall } from '../host/hostCalls.ts'
import type { UploadRecord } from './uploadRepository.ts'

/** Timeout to read or write one range of a file, in milliseconds. */
export const fileDeadlineMs = 120_000
/** Same limit as Linux. */
const maxLinks = 40

export type UploadFiles = {
  /** @returns undefined if the file does not exist */
  stat(sandboxId: SandboxId, path: string): Promise<FileState | undefined>
  /**
   * Resolves symbolic links at the path, so that an upload replaces the target and not the link.
   * @throws AppError `file/path`
   */
  locateTarget(sandboxId: SandboxId, path: string): Promise<{ place: string; there?: FileState }>
  makeFolder(record: UploadRecord): Promise<void>
  createPart(record: UploadRecord): Promise<void>
  /** Writes received bytes and truncates the file after them. */
  writePart(record: UploadRecord, range: { offset: number; content: Uint8Array }): Promise<void>
  removePart(record: UploadRecord): Promise<void>
  /** @throws AppError `upload/checksum` */
  assertChecksum(record: UploadRecord, signal: AbortSignal): Promise<void>
  movePart(record: UploadRecord): Promise<void>
}

export function createUploadFiles(call: HostCall): UploadFiles {
  const stat = async (sandboxId: SandboxId, path: string): Promise<FileState | undefined> => {
    try {
      return (await call('file.stat', { sandboxId, path })).result
    } catch (error) {
      if (error instanceof AppError && error.code === 'file/not-found') return undefined
      throw error
    }
  }

  return {
    stat,
    async locateTarget(sandboxId, path) {
      let target = path
      for (let links = 0; links < maxLinks; links++) {
        const there = await stat(sandboxId, target)
        if (there?.target === undefined) return { place: target, ...(there && { there }) }
        target = posix.resolve(posix.dirname(target), there.target)
      }
      throw new AppError('file/path', `${path} has too many symbolic links.`)
    },
    async makeFolder({ sandboxId, place }) {
      await call('file.makeFolder', { sandboxId, path: posix.dirname(place) })
    },
    async createPart({ sandboxId, part: path }) {
      const range = { sandboxId, path, offset: 0, truncate: true }
      await call('file.writeRange', range, { body: new Uint8Array() })
    },
    async writePart({ sandboxId, part: path }, { offset, content }) {
      const range = { sandboxId, path, offset, truncate: true }
      await call('file.writeRange', range, { body: content, deadlineMs: fileDeadlineMs })
    },
    async removePart({ sandboxId, part }) {
      try {
        await call('file.remove', { sandboxId, path: part, recursive: false })
      } catch (error) {
        if (!(error instanceof AppError) || error.code !== 'file/not-found') throw error
      }
    },
    async assertChecksum({ sandboxId, part, sha256, size, path }, signal) {
      if (sha256 === null) return
      const hash = createHash('sha256')
      for (let offset = 0; offset < size; offset += maxRangeBytes) {
        const range = { sandboxId, path: part, offset, length: maxRangeBytes }
        hash.update((await call('file.readRange', range, { deadlineMs: fileDeadlineMs, signal })).body)
      }
      if (hash.digest('hex') === sha256) return
      throw new AppError('upload/checksum', `The SHA-256 of the received bytes of ${path} does not match.`)
    },
    async movePart({ sandboxId, part, place, replaces, ifVersion, modifiedAtMs }) {
      await call('file.move', {
        sandboxId,
        from: part,
        to: place,
        replace: replaces,
        keepMode: replaces,
        ...(ifVersion !== null && { ifVersion }),
        ...(modifiedAtMs !== null && { modifiedAtMs }),
      })
    },
  }
}
