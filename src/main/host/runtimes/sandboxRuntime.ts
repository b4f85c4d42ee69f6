import type { Duplex } from 'node:stream'
import type { FileEntry } from '#shared/contract/files.ts'
import type { HostImage, SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName, ImageSource } from '#shared/contract/images.ts'
import type { ProcessSignal } from '#shared/contract/processes.ts'
import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { SandboxId, SnapshotId } from '#shared/ids.ts'
import type { FileOperations } from './inside/fileOperations.ts'

/**
 * Makes machines of one kind. A machine behaves like one small computer: its own files, processes and network.
 * `test/contract/sandboxRuntime.ts` says what every implementation must do.
 */
export interface SandboxRuntime {
  readonly name: string
  /** Reports features and enforced limits, determined by trying them; never rejects. */
  describe(): Promise<RuntimeReport>
  /**
   * Makes the files of a new machine, of its image or of the snapshot `from`, and starts it.
   * @throws AppError `runtime/unavailable`, `image/not-found`, `image/not-ready`, `snapshot/not-found`,
   * `egress/unavailable`, `sandbox/start-failed`; nothing of the machine is left then.
   */
  create(spec: SandboxSpec, signal: AbortSignal, from?: SnapshotRef): Promise<SandboxInstance>
  /** Starts a machine whose files exist. @throws AppError `sandbox/not-found` when they do not. */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<SandboxInstance>
  /** Removes the files and the snapshots of a machine that does not run. Succeeds when there are none. */
  remove(id: SandboxId): Promise<void>
  /** Machines that have files here, running or not. */
  listStored(): Promise<SandboxId[]>
  /** Ends and removes what an earlier host process left running or mounted; files of machines stay. */
  sweep(): Promise<void>
  /**
   * Keeps the files of a machine as they are now. One that runs is held still meanwhile: what is kept is what a power
   * cut would have left, with every write complete that was finished before.
   * @returns what it takes on the disk, in bytes
   * @throws AppError `snapshot/failed`, `file/no-space`; nothing of it is left then
   */
  snapshot(snapshot: SnapshotRef, signal: AbortSignal): Promise<number>
  /**
   * The files of a machine that does not run become those of the snapshot, all of them or, when it fails, none.
   * @throws AppError `snapshot/not-found`, `snapshot/failed`
   */
  restore(snapshot: SnapshotRef, signal: AbortSignal): Promise<void>
  /** Snapshots of a sandbox with files on this computer, in no particular order. */
  listSnapshots(id: SandboxId): Promise<SnapshotId[]>
  /** Succeeds when there is none. */
  removeSnapshot(snapshot: SnapshotRef): Promise<void>
  readonly images: RuntimeImages
  /** Ends what it keeps beside machines. Machines that run are stopped before. */
  close(): Promise<void>
}

export type SnapshotRef = { sandboxId: SandboxId; snapshotId: SnapshotId }

/** Images of one runtime. Other programs may add and remove images at the same time. */
export type RuntimeImages = {
  list(): Promise<HostImage[]>
  /**
   * Resolves when the image is ready. `onProgress` gets a sentence and, where it is known, a share from 0 to 1.
   * @throws AppError `image/source` for a kind that it cannot take, `image/exists`, `image/failed`, `file/no-space`;
   * nothing of the image is left then, nor when `signal` fires
   */
  add(request: AddImage, signal: AbortSignal): Promise<HostImage>
  /** Machines that were made from it may not run: the caller sees to that. Succeeds when there is none. */
  remove(name: ImageName): Promise<void>
}

export type AddImage = {
  name: ImageName
  source: ImageSource
  onProgress: (sentence: string, share: number | null) => void
}

export interface SandboxInstance {
  readonly id: SandboxId
  readonly startedAtMs: number
  readonly enforced: Enforced
  /** Resolves with a sentence when the machine is no longer running, whether asked or not. */
  readonly ended: Promise<string>
  /** Ends all processes, then resolves. Idempotent. `discard`: its files may be lost. */
  stop(files?: 'discard'): Promise<void>
  /**
   * Runs `bash -c command` with stdin closed. On timeout, or when `signal` fires, its whole process group is killed
   * and what was printed so far is returned.
   * @throws AppError `exec/failed` when the exit code cannot be known; `sandbox/not-running`.
   */
  exec(request: ExecRequest): Promise<ExecOutcome>
  /** Measures it now. @throws AppError `sandbox/not-running`. */
  usage(): Promise<SandboxUsage>
  /** Lists all processes, unordered, by their ids inside. @throws AppError `sandbox/not-running`. */
  processes(): Promise<SandboxProcess[]>
  /** Never to process 1, which is the machine itself. @throws AppError `process/not-found`, `sandbox/not-running`. */
  signal(pid: number, signal: ProcessSignal): Promise<void>
  /** TCP ports on which something listens, in ascending order. @throws AppError `sandbox/not-running`. */
  listeningPorts(): Promise<number[]>
  /** Starts a command on a new pseudo-terminal. @throws AppError `terminal/failed`, `sandbox/not-running`. */
  openTerminal(request: TerminalRequest): Promise<SandboxTerminal>
  /** Writes as the sandbox's root, making folders. @throws AppError `file/…`. */
  writeFile(path: string, content: Uint8Array, signal: AbortSignal): Promise<void>
  /** @throws AppError `file/not-found`, `file/not-a-file`, `file/too-large`. */
  readFile(path: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Folders first, then by name. @throws AppError `file/not-found`, `file/not-a-folder`. */
  listFiles(path: string, signal: AbortSignal): Promise<FileEntry[]>
  readonly files: FileOperations
  /**
   * Connects to a TCP port of the machine's own loopback, IPv4 before IPv6. Ending the stream ends what is sent to the
   * port; the stream ends when the port has sent all it will, and with the machine. `signal` limits the connecting only.
   * @throws AppError `port/no-server` when nothing listens there, `port/failed`, `sandbox/not-running`
   */
  connect(port: number, signal: AbortSignal): Promise<Duplex>
}

/** Size of each stream; further output is read and dropped, and `truncated` is set. */
export const execStreamBytes = 10 * 1024 * 1024

export type ExecRequest = {
  command: string
  timeoutMs: number
  cwd?: string | undefined
  env?: Readonly<Record<string, string>> | undefined
  signal: AbortSignal
  /** Called with output of both streams, including output beyond the limit. */
  onOutput?: ((bytes: Buffer) => void) | undefined
}

export type ExecOutcome = {
  stdout: Buffer
  stderr: Buffer
  /** 128 + N after signal N; 124 on timeout. */
  exitCode: number
  timedOut: boolean
  truncated: boolean
  durationMs: number
}

export type SandboxUsage = {
  /** Processor time of all its processes so far; only the difference of two counts means something. */
  cpuMs: number
  /** When that was counted, by `performance.now()`. */
  atMs: number
  /** Memory without reclaimable file cache. */
  memoryBytes: number
  processes: number
  /** Bytes used by its files, up to a few seconds old. Absent until the first count is complete. */
  diskBytes: number | undefined
}

export type SandboxProcess = {
  pid: number
  ppid: number
  user: string
  /** Processor time used, in milliseconds. */
  cpuMs: number
  /** Resident. */
  memoryBytes: number
  /** One line. */
  command: string
  startedAtMs: number
}

export type TerminalRequest = {
  command: string
  cols: number
  rows: number
  cwd?: string | undefined
  env?: Readonly<Record<string, string>> | undefined
}

/** A running pseudo-terminal. Listeners are set by its one owner before the first byte is delivered. */
export interface SandboxTerminal {
  /**
   * Raw output in order. Every byte that was written before the exit is delivered before `ended` resolves.
   * The bytes are the listener's until it returns: what it keeps it copies.
   */
  onOutput(listener: (bytes: Buffer) => void): void
  /**
   * Accepts all of the input or none. Calls `onWritten` once it is written or dropped.
   * @throws AppError `terminal/input-full` while too much input is unread
   */
  write(bytes: Uint8Array, onWritten?: () => void): void
  /** Writes a reply of the terminal itself, or drops it while input is queued. */
  answer(bytes: Uint8Array): void
  resize(cols: number, rows: number): void
  /** The name of the program in its foreground; undefined for its own command. Absent where the runtime does not tell. */
  foreground?(): Promise<string | undefined>
  /** Absolute path of the working directory of that program. Undefined: unknown. Absent where the runtime does not tell. */
  directory?(): Promise<string | undefined>
  /** Stops reading: the program blocks once the kernel's buffer is full. */
  pause(): void
  resume(): void
  /** Hangs up, and kills the process group when it does not end within a few seconds. */
  close(): void
  readonly ended: Promise<{ exitCode: number | null; signal: string | null }>
}
