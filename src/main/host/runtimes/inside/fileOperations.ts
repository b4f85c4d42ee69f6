import type { Readable } from 'node:stream'
import type { FileState } from '#shared/contract/files.ts'

/**
 * File operations in a sandbox, performed as its root. Paths are absolute, with names encoded by `fileNames.ts`. Only
 * the contents of a file are accessed through a symbolic link. All other operations apply to the link itself.
 * @throws AppError `file/not-found`, `file/not-a-folder`, `file/denied`, `file/no-space`, `file/path`,
 * `sandbox/not-running` from every operation, and further errors listed there
 */
export interface FileOperations {
  stat(path: string, signal: AbortSignal): Promise<FileState>
  /**
   * Reads the available bytes of the range, with the state of the file that contains them (not of a link to it).
   * @throws AppError `file/not-a-file`; `file/changed` if the file changed during the read
   */
  readRange(path: string, range: ByteRange, signal: AbortSignal): Promise<{ bytes: Buffer; state: FileState }>
  /**
   * Creates the file if it does not exist, but not its parent folders. Gaps read as zeros.
   * @throws AppError `file/not-a-file`
   */
  writeRange(path: string, piece: FileWrite, signal: AbortSignal): Promise<FileState>
  /**
   * Creates the folder and its parents.
   * @returns false if it already existed
   * @throws AppError `file/exists` if the path is not a folder
   */
  makeFolder(path: string, signal: AbortSignal): Promise<boolean>
  /**
   * Moves files and folders, even to another file system. No data is lost on error.
   * @throws AppError `file/exists`, `file/not-empty` if the target is a non-empty folder, `file/changed` if `ifVersion`
   * does not match
   */
  move(request: MoveRequest, signal: AbortSignal): Promise<void>
  /** Copies files and folders with modes and times. The copy is atomic. @throws AppError `file/exists` */
  copy(request: { from: string; to: string }, signal: AbortSignal): Promise<void>
  /** @throws AppError `file/not-empty` for a non-empty folder unless `recursive` */
  remove(path: string, options: { recursive: boolean }, signal: AbortSignal): Promise<void>
  /**
   * Streams a tar of a folder with its files, folders and links, under the name of the folder. Reads at the speed of
   * the consumer. The stream fails if the tar could not be completed. Destroying the stream ends the operation. A file
   * that shrinks during the read is padded with zeros.
   */
  archive(path: string, signal: AbortSignal): Promise<Readable>
}

export type ByteRange = { offset: number; length: number }
/** `truncate`: truncates the file at `offset` before writing. */
export type FileWrite = { offset: number; content: Uint8Array; truncate?: boolean }

export type MoveRequest = {
  from: string
  to: string
  /** Whether to replace an existing file, link or empty folder. */
  replace: boolean
  /** Required version of the existing file, or null if no file may exist. */
  ifVersion?: string | null | undefined
  /** Whether to preserve the owner and mode of the replaced file. */
  keepMode?: boolean | undefined
  modifiedAtMs?: number | undefined
}
