import type { Duplex } from 'node:stream'
import type { FileEntry } from '#shared/contract/files.ts'
import type { HostImage, SandboxSpec } from '#shared/contract/hostIpc.ts'
import type { ImageName, ImageSource } from '#shared/contract/images.ts'
import type { ProcessSignal } from '#shared/contract/processes.ts'
import type { Enforced, RuntimeReport } from '#shared/contract/sandboxes.ts'
import type { SandboxId, SnapshotId } from '#shared/ids.ts'
import type { FileOperations } from './inside/fileOperations.ts'

/**
 * Creates sandboxes of one kind. A sandbox behaves like a small computer with separate files, processes and network.
 * `test/contract/sandboxRuntime.ts` specifies the behavior of every implementation. The caller knows which
 * sandboxes run: it starts each at most once at a time, and passes back the instance where one is required.
 */
export interface SandboxRuntime<Instance extends SandboxInstance = SandboxInstance> {
  readonly name: string
  /** Reports features and enforced limits, which are determined by trying. Never rejects. */
  describe(): Promise<RuntimeReport>
  /**
   * Creates the files of a new sandbox, from its image or from the snapshot `from`, and starts it. Removes everything
   * on error.
   * @throws AppError `runtime/unavailable`, `image/not-found`, `image/not-ready`, `snapshot/not-found`,
   * `egress/unavailable`, `sandbox/start-failed`
   */
  create(spec: SandboxSpec, signal: AbortSignal, from?: SnapshotRef): Promise<Instance>
  /** Starts a sandbox from its stored files. @throws AppError `sandbox/not-found` if they do not exist */
  start(spec: SandboxSpec, signal: AbortSignal): Promise<Instance>
  /** Removes the files and snapshots of a stopped sandbox. Succeeds if there are none. */
  remove(id: SandboxId): Promise<void>
  /** Sandboxes with stored files, running or not. */
  listStored(): Promise<SandboxId[]>
  /** Ends all processes and removes all mounts of a previous host process. Files of sandboxes are preserved. */
  sweep(): Promise<void>
  /**
   * Creates a snapshot of a sandbox's files. A running sandbox is frozen during the copy. The snapshot equals the state
   * after a power failure, including all completed writes. Removes partial files on error.
   * @param running the instance of a running sandbox. Without it, the copy would not be consistent
   * @returns the disk usage of the snapshot, in bytes
   * @throws AppError `snapshot/failed`, `file/no-space`
   */
  snapshot(snapshot: SnapshotRef, signal: AbortSignal, running: Instance | undefined): Promise<number>
  /**
   * Replaces all files of a stopped sandbox with those of the snapshot. On error, no file is changed.
   * @throws AppError `snapshot/not-found`, `snapshot/failed`
   */
  restore(snapshot: SnapshotRef, signal: AbortSignal): Promise<void>
  /** Snapshots of a sandbox that has files on this computer, unordered. */
  listSnapshots(id: SandboxId): Promise<SnapshotId[]>
  /** Succeeds if the snapshot does not exist. */
  removeSnapshot(snapshot: SnapshotRef): Promise<void>
  readonly images: RuntimeImages
  /** Releases the resources of the runtime. All sandboxes must be stopped before. */
  close(): Promise<void>
}

export type SnapshotRef = { sandboxId: SandboxId; snapshotId: SnapshotId }

/** Images of one runtime. Other programs may add and remove images at the same time. */
export type RuntimeImages = {
  list(): Promise<HostImage[]>
  /**
   * Resolves when the image is ready. `onProgress` receives a sentence and, if known, a share from 0 to 1. Removes
   * partial files on error and on abort.
   * @throws AppError `image/source` for an unsupported source, `image/exists`, `image/failed`, `file/no-space`
   */
  add(request: AddImage, signal: AbortSignal): Promise<HostImage>
  /**
   * Removes an image. The caller must ensure that no sandbox created from it is running. Succeeds if the image does not
   * exist.
   */
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
  /** Resolves with a sentence when the sandbox has ended for any reason. */
  readonly ended: Promise<string>
  /** Ends all processes, then resolves. Idempotent. `discard` permits the loss of its files. */
  stop(files?: 'discard'): Promise<void>
  /**
   * Runs `bash -c command` with stdin closed. On timeout or abort, kills the whole process group and returns the output
   * so far.
   * @throws AppError `exec/failed` if the exit code cannot be determined; `sandbox/not-running`
   */
  exec(request: ExecRequest): Promise<ExecOutcome>
  /** Takes a new measurement. @throws AppError `sandbox/not-running` */
  usage(): Promise<SandboxUsage>
  /** Lists all processes, unordered, by their PIDs inside. @throws AppError `sandbox/not-running` */
  processes(): Promise<SandboxProcess[]>
  /**
   * Sends a signal to a process. Never signals PID 1, because it is the sandbox itself.
   * @throws AppError `process/not-found`, `sandbox/not-running`
   */
  signal(pid: number, signal: ProcessSignal): Promise<void>
  /** TCP ports with a listener, in ascending order. @throws AppError `sandbox/not-running` */
  listeningPorts(): Promise<number[]>
  /** Starts a command on a new pseudo-terminal. @throws AppError `terminal/failed`, `sandbox/not-running` */
  openTerminal(request: TerminalRequest): Promise<SandboxTerminal>
  /** Writes a file as the sandbox's root. Creates parent folders. @throws AppError `file/…` */
  writeFile(path: string, content: Uint8Array, signal: AbortSignal): Promise<void>
  /** @throws AppError `file/not-found`, `file/not-a-file`, `file/too-large` */
  readFile(path: string, maxBytes: number, signal: AbortSignal): Promise<Buffer>
  /** Lists folders first, then sorts by name. @throws AppError `file/not-found`, `file/not-a-folder` */
  listFiles(path: string, signal: AbortSignal): Promise<FileEntry[]>
  readonly files: FileOperations
  /**
   * Connects to a TCP port on the sandbox's loopback, IPv4 before IPv6. Ending the stream ends the input of the port.
   * The stream ends when the port has sent all its output, or with the sandbox. `signal` applies only to connecting.
   * @throws AppError `port/no-server` if nothing listens on the port, `port/failed`, `sandbox/not-running`
   */
  connect(port: number, signal: AbortSignal): Promise<Duplex>
}

/** Maximum size of each stream, in bytes. Further output is discarded and `truncated` is set. */
export const execStreamBytes = 10 * 1024 * 1024

export type ExecRequest = {
  command: string
  timeoutMs: number
  cwd?: string | undefined
  env?: Readonly<Record<string, string>> | undefined
  signal: AbortSignal
  /** Called with the output of both streams, including output beyond the limit. */
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
  /** Accumulated CPU time of all processes. Only the difference of two readings is meaningful. */
  cpuMs: number
  /** Time of the reading, by `performance.now()`. */
  atMs: number
  /** Memory usage without reclaimable file cache. */
  memoryBytes: number
  processes: number
  /** Disk usage of the files, up to a few seconds old. Undefined until the first count is complete. */
  diskBytes: number | undefined
}

export type SandboxProcess = {
  pid: number
  ppid: number
  user: string
  /** CPU time used, in milliseconds. */
  cpuMs: number
  /** Resident set size. */
  memoryBytes: number
  /** Command line, as one line of text. */
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

/** Running pseudo-terminal. Its single owner sets the listeners before the first byte is delivered. */
export interface SandboxTerminal {
  /**
   * Delivers raw output in order. All bytes written before the exit are delivered before `ended` resolves. The buffer
   * is valid only during the call, so a listener must copy the bytes that it retains.
   */
  onOutput(listener: (bytes: Buffer) => void): void
  /**
   * Accepts all of the input or none. Calls `onWritten` once it is written or dropped.
   * @throws AppError `terminal/input-full` while too much input is unread
   */
  write(bytes: Uint8Array, onWritten?: () => void): void
  /** Writes a reply of the terminal emulator, or drops it while input is queued. */
  answer(bytes: Uint8Array): void
  resize(cols: number, rows: number): void
  /**
   * Returns the name of the foreground program, or undefined if it is the terminal's own command. Absent if the runtime
   * does not support it.
   */
  foreground?(): Promise<string | undefined>
  /**
   * Returns the absolute working directory of that program, or undefined if it is unknown. Absent if the runtime does
   * not support it.
   */
  directory?(): Promise<string | undefined>
  /** Stops reading. The program blocks once the kernel's buffer is full. */
  pause(): void
  resume(): void
  /** Hangs up, and kills the process group if it does not exit within a few seconds. */
  close(): void
  readonly ended: Promise<{ exitCode: number | null; signal: string | null }>
}
