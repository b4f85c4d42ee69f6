import type { Readable } from 'node:stream'
import type { FileState } from '#shared/contract/files.ts'

/**
 * Work on the files of a machine as its root. Paths are absolute, their names as `fileNames.ts` writes bytes. Only the
 * contents of a file are reached through a link in its place; everything else is done to the link itself.
 * @throws AppError `file/not-found`, `file/not-a-folder`, `file/denied`, `file/no-space`, `file/path`,
 * `sandbox/not-running`, each of them; and what they name themselves
 */
export interface FileOperations {
  stat(path: string, signal: AbortSignal): Promise<FileState>
  /**
   * As many bytes as there are, with the state of the file (not of a link to it) that they belong to.
   * @throws AppError `file/not-a-file`; `file/changed` when it changed while it was read
   */
  readRange(path: string, range: ByteRange, signal: AbortSignal): Promise<{ bytes: Buffer; state: FileState }>
  /**
   * Makes the file when it is not there, but no folders. What is skipped reads as zeros.
   * @throws AppError `file/not-a-file`
   */
  writeRange(path: string, piece: WrittenPiece, signal: AbortSignal): Promise<FileState>
  /** With those above it. @returns false when it was there. @throws AppError `file/exists` when it is no folder */
  makeFolder(path: string, signal: AbortSignal): Promise<boolean>
  /**
   * Files and folders, also to another file system. Nothing is lost when it fails.
   * @throws AppError `file/exists`, `file/not-empty` for a folder in its place, `file/changed` for another `ifVersion`
   */
  move(request: MoveRequest, signal: AbortSignal): Promise<void>
  /** Copies files and folders with modes and times, all or nothing. @throws AppError `file/exists` */
  copy(request: { from: string; to: string }, signal: AbortSignal): Promise<void>
  /** @throws AppError `file/not-empty` for a folder with something in it unless `recursive` */
  remove(path: string, options: { recursive: boolean }, signal: AbortSignal): Promise<void>
  /**
   * A tar of a folder with files, folders and links in it, under the name of the folder. It is read as fast as the
   * stream is, which fails when the tar could not be completed; ending the stream ends the work. A file that shrinks
   * meanwhile is filled up with zeros.
   */
  archive(path: string, signal: AbortSignal): Promise<Readable>
}

export type ByteRange = { offset: number; length: number }
/** `truncate`: what was there from `offset` on goes, whatever its length. */
export type WrittenPiece = { offset: number; content: Uint8Array; truncate?: boolean }

export type MoveRequest = {
  from: string
  to: string
  /** A file, a link or an empty folder in its place goes. */
  replace: boolean
  /** Version that the present file must have; null if no file may exist. */
  ifVersion?: string | null | undefined
  /** A file in its place gives its owner and its mode. */
  keepMode?: boolean | undefined
  modifiedAtMs?: number | undefined
}
