import { z } from 'zod'
import { AccountId, SandboxId, SnapshotId, TerminalId } from '../ids.ts'
import { FileEntry, FileState } from './files.ts'
import { ImageName, ImageSource, ImageStatus } from './images.ts'
import { ProcessSignal } from './processes.ts'
import { Enforced, Network, Region, RuntimeReport } from './sandboxes.ts'
import { searchTerminals } from './terminalSearch.ts'
import { TerminalState } from './terminals.ts'

/**
 * Requests from the service to the sandbox host over a Unix socket with mode 0600. Both run as the same user. File
 * contents and terminal output are sent as raw bytes with the JSON ("body").
 */

/**
 * Version of the protocol. Must be incremented with every change: a service replaces a host of another version once it
 * is idle. `hostIpcVersion.test.ts` fails if the schemas change without it.
 */
export const hostIpcVersion = 3

/** Specification of a sandbox that the service sends to the host. */
export const SandboxSpec = z.object({
  id: SandboxId,
  /** Host name within the sandbox, already reduced to letters, digits and `-`. */
  hostname: z.string(),
  runtime: z.string(),
  vcpu: z.int(),
  memoryMb: z.int(),
  diskGb: z.int(),
  /** Null selects the base image of the runtime. */
  image: ImageName.nullable(),
  network: Network,
})
export type SandboxSpec = z.infer<typeof SandboxSpec>

/** Running sandbox, as reported by the host. */
export const RunningSandboxInstance = z.object({
  id: SandboxId,
  startedAtMs: z.int(),
  runtime: z.string(),
  enforced: Enforced,
})
export type RunningSandboxInstance = z.infer<typeof RunningSandboxInstance>

/**
 * Name, owner and database of a sandbox, which the host stores next to its disk. Identifies a sandbox that is missing
 * in the database, for example after restoring an older backup, so that it can be adopted.
 */
export const SandboxLabel = z.object({
  id: SandboxId,
  /** Random id created with the database. */
  databaseId: z.string(),
  accountId: AccountId,
  name: z.string(),
  region: Region,
  runtime: z.string(),
  vcpu: z.int(),
  memoryMb: z.int(),
  diskGb: z.int(),
  image: ImageName.nullable(),
  network: Network,
  idleMinutes: z.int().nullable(),
  createdAtMs: z.int(),
  snapshots: z.array(z.object({ id: SnapshotId, name: z.string(), sizeBytes: z.number(), createdAtMs: z.int() })),
})
export type SandboxLabel = z.infer<typeof SandboxLabel>

/** Sandbox with files on this computer, running or not. */
export const StoredSandbox = z.object({
  id: SandboxId,
  runtime: z.string(),
  /** Null if the label is missing or unreadable. */
  label: SandboxLabel.nullable(),
  /** Snapshots that have files. */
  snapshots: z.array(SnapshotId),
})
export type StoredSandbox = z.infer<typeof StoredSandbox>

/** Terminal, as reported by the host. */
export const TerminalRecord = z.object({
  id: TerminalId,
  sandboxId: SandboxId,
  command: z.string(),
  cols: z.int(),
  rows: z.int(),
  state: TerminalState,
  createdAtMs: z.int(),
  /** Absent in records of earlier versions. */
  name: z.string().nullable().default(null),
  title: z.string().nullable(),
  process: z.string().nullable().default(null),
  exitCode: z.int().nullable(),
  signal: z.string().nullable(),
  exitedAtMs: z.int().nullable(),
  /** Whether the terminal ended with its sandbox. Absent in records of earlier versions. */
  endedWithMachine: z.boolean().default(false),
})
export type TerminalRecord = z.infer<typeof TerminalRecord>

const OnSandbox = z.object({ sandboxId: SandboxId })
const OnTerminal = OnSandbox.extend({ terminalId: TerminalId })
const OnSnapshot = OnSandbox.extend({ snapshotId: SnapshotId })
const OnFiles = OnSnapshot.extend({ runtime: z.string() })
const OnPath = OnSandbox.extend({ path: z.string() })
const Nothing = z.object({})

/** Image of a runtime. */
export const HostImage = z.object({
  name: ImageName,
  runtime: z.string(),
  status: ImageStatus,
  detail: z.string(),
  progress: z.number().nullable(),
  sizeBytes: z.number().nullable(),
  createdAtMs: z.int(),
})
export type HostImage = z.infer<typeof HostImage>

const Environment = z.record(z.string(), z.string())

/** Maximum size of one ranged read, in bytes. */
export const maxRangeBytes = 8 * 1024 * 1024

/** Method name → parameters and result. "body" describes raw bytes sent with them. */
export const hostMethods = {
  describe: {
    params: Nothing,
    result: z.object({ ipcVersion: z.int(), version: z.string(), pid: z.int(), runtimes: z.array(RuntimeReport) }),
  },
  /** Checks that the event loop of the host is responsive. */
  ping: { params: Nothing, result: Nothing },
  /** Stops the host and its running sandboxes. */
  shutdown: { params: Nothing, result: Nothing },
  'machine.list': { params: Nothing, result: z.object({ machines: z.array(RunningSandboxInstance) }) },
  /** Creates the files of a sandbox and starts it. Removes the files on error. */
  'machine.create': {
    params: SandboxSpec.extend({ from: OnSnapshot.optional() }), // starts with the files of this snapshot
    result: RunningSandboxInstance,
  },
  /** Starts a sandbox that has files. */
  'machine.start': { params: SandboxSpec, result: RunningSandboxInstance },
  /** Ends all processes. Files are retained. Succeeds if the sandbox is not running. */
  'machine.stop': { params: OnSandbox, result: Nothing },
  /** Stops the sandbox and removes its files and terminals. Succeeds if there are none. */
  'machine.delete': { params: OnSandbox, result: Nothing },
  'machine.stored': { params: Nothing, result: z.object({ machines: z.array(StoredSandbox) }) },
  /** Replaces the labels of these sandboxes. Labels of other sandboxes remain until those are deleted. */
  'machine.label': { params: z.object({ labels: z.array(SandboxLabel) }), result: Nothing },
  /** Saves the current files. The sandbox may be running. */
  'snapshot.create': { params: OnFiles, result: z.object({ sizeBytes: z.number() }) },
  /** Requires a stopped sandbox. */
  'snapshot.restore': { params: OnFiles, result: Nothing },
  /** Succeeds if the snapshot does not exist. */
  'snapshot.delete': { params: OnFiles, result: Nothing },
  'image.list': { params: Nothing, result: z.object({ images: z.array(HostImage) }) },
  /** Returns immediately. `image.changed` events report the progress. */
  'image.add': { params: z.object({ runtime: z.string(), name: ImageName, source: ImageSource }), result: HostImage },
  'image.remove': { params: z.object({ name: ImageName }), result: Nothing },
  /** Result body: stdout, then stderr. `watch` identifies the command for `machine.execOutput`. */
  'machine.exec': {
    params: OnSandbox.extend({
      command: z.string(),
      timeoutMs: z.int(),
      cwd: z.string().optional(),
      env: Environment.optional(),
      watch: z.string().optional(),
    }),
    result: z.object({
      stdoutBytes: z.int(),
      exitCode: z.int(),
      timedOut: z.boolean(),
      truncated: z.boolean(),
      durationMs: z.number(),
    }),
  },
  /** Result body: output of a running command since `since`, stdout and stderr combined. Waits at most `waitMs`. */
  'machine.execOutput': {
    params: OnSandbox.extend({ watch: z.string(), since: z.int(), waitMs: z.int() }),
    result: z.object({ cursor: z.int(), ended: z.boolean() }),
  },
  /** Returns the current resource usage of a running sandbox. */
  'machine.usage': {
    params: OnSandbox,
    result: z.object({
      /** 100 is one full core. */
      cpuPercent: z.number(),
      memoryBytes: z.number(),
      /** Null until the first measurement. */
      diskBytes: z.number().nullable(),
      processes: z.int(),
    }),
  },
  /** Lists the processes of a running sandbox. Process ids are of its namespace. */
  'machine.processes': {
    params: OnSandbox,
    result: z.object({
      processes: z.array(
        z.object({
          pid: z.int(),
          ppid: z.int(),
          user: z.string(),
          /** 100 is one full core. */
          cpuPercent: z.number(),
          memoryBytes: z.number(),
          command: z.string(),
          startedAtMs: z.int(),
        }),
      ),
    }),
  },
  'machine.signal': { params: OnSandbox.extend({ pid: z.int().min(2), signal: ProcessSignal }), result: Nothing },
  /** Lists the TCP ports on which the sandbox listens, in ascending order. */
  'machine.listening': { params: OnSandbox, result: z.object({ ports: z.array(z.int()) }) },
  /** Request body: content of the file. */
  'file.write': { params: OnSandbox.extend({ path: z.string() }), result: z.object({ bytesWritten: z.int() }) },
  /** Result body: content of the file. */
  'file.read': {
    params: OnSandbox.extend({ path: z.string(), maxBytes: z.int() }),
    result: z.object({ size: z.int() }),
  },
  'file.list': {
    params: OnPath,
    result: z.object({ entries: z.array(FileEntry), truncated: z.boolean() }),
  },
  'file.stat': { params: OnPath, result: FileState },
  /** Result body: the available bytes of the range, at most `maxRangeBytes`. */
  'file.readRange': { params: OnPath.extend({ offset: z.int(), length: z.int() }), result: FileState },
  /** Request body: bytes to write. */
  'file.writeRange': { params: OnPath.extend({ offset: z.int(), truncate: z.boolean() }), result: FileState },
  'file.makeFolder': { params: OnPath, result: z.object({ created: z.boolean() }) },
  'file.move': {
    params: OnSandbox.extend({
      from: z.string(),
      to: z.string(),
      replace: z.boolean(),
      ifVersion: z.string().nullable().optional(),
      keepMode: z.boolean().optional(),
      modifiedAtMs: z.int().optional(),
    }),
    result: Nothing,
  },
  'file.copy': { params: OnSandbox.extend({ from: z.string(), to: z.string() }), result: Nothing },
  'file.remove': { params: OnPath.extend({ recursive: z.boolean() }), result: Nothing },
  'terminal.create': {
    params: OnTerminal.extend({
      command: z.string(),
      cols: z.int(),
      rows: z.int(),
      cwd: z.string().optional(),
      /** Terminal whose foreground program's working directory is used. Falls back to `cwd` if that is unknown. */
      cwdOf: TerminalId.optional(),
      env: Environment.optional(),
    }),
    result: TerminalRecord,
  },
  'terminal.list': { params: OnSandbox, result: z.object({ terminals: z.array(TerminalRecord) }) },
  /** Request body: bytes of the input. */
  'terminal.write': { params: OnTerminal, result: Nothing },
  /** Result body: UTF-8 text. */
  'terminal.read': {
    params: OnTerminal.extend({ full: z.boolean(), format: z.enum(['text', 'ansi']) }),
    result: z.object({
      terminal: TerminalRecord,
      cursor: z.int(),
      cursorPosition: z.object({ row: z.int(), col: z.int() }).nullable(),
    }),
  },
  /** Result body: raw output starting at `since`, in complete characters. Waits at most `waitMs` for the first byte. */
  'terminal.readSince': {
    params: OnTerminal.extend({ since: z.int(), waitMs: z.int(), maxBytes: z.int() }),
    result: z.object({ terminal: TerminalRecord, cursor: z.int(), missed: z.boolean() }),
  },
  'terminal.search': {
    params: z.object({
      sandboxIds: z.array(SandboxId),
      text: z.string(),
      regex: z.boolean(),
      caseSensitive: z.boolean(),
      limit: z.int(),
    }),
    result: searchTerminals.response,
  },
  'terminal.rename': { params: OnTerminal.extend({ name: z.string().nullable() }), result: TerminalRecord },
  'terminal.resize': { params: OnTerminal.extend({ cols: z.int(), rows: z.int() }), result: Nothing },
  'terminal.close': { params: OnTerminal, result: Nothing },
} as const

/** Name of a method of the sandbox host. */
export type HostMethod = keyof typeof hostMethods
/** Parameters of a method, after parsing. */
export type HostParams<M extends HostMethod> = z.infer<(typeof hostMethods)[M]['params']>
/** Result of a method, after parsing. */
export type HostResult<M extends HostMethod> = z.infer<(typeof hostMethods)[M]['result']>

/** Event sent to every connected service. */
export const HostEvent = z.discriminatedUnion('type', [
  /** The sandbox ended unexpectedly: its init was killed, or the runtime lost it. */
  z.object({ type: z.literal('machine.ended'), sandboxId: SandboxId, reason: z.string() }),
  z.object({ type: z.literal('terminal.changed'), terminal: TerminalRecord }),
  /** The terminal printed output, or rang the bell. Sent immediately, then at most once a second. */
  z.object({ type: z.literal('terminal.output'), sandboxId: SandboxId, terminalId: TerminalId, bell: z.boolean() }),
  /** The program requests attention with OSC 9, 99 or 777. Sent immediately, then at most once a second. */
  z.object({ type: z.literal('terminal.called'), sandboxId: SandboxId, terminalId: TerminalId, text: z.string() }),
  z.object({ type: z.literal('terminal.removed'), sandboxId: SandboxId, terminalId: TerminalId }),
  z.object({ type: z.literal('image.changed'), image: HostImage }),
  z.object({ type: z.literal('image.removed'), name: ImageName }),
])
export type HostEvent = z.infer<typeof HostEvent>

/**
 * Stream of a terminal viewer, opened with these parameters. Carries the messages of `terminalStream.ts` in both
 * directions. A message without JSON carries bytes: first the snapshot, then raw output.
 */
export const TerminalAttach = OnTerminal.extend({
  scrollback: z.int(),
  marks: z.boolean().optional(),
  skip: z.boolean().optional(),
})
export type TerminalAttach = z.infer<typeof TerminalAttach>

/**
 * Stream for a connection to a port in a sandbox. `opened` is sent once the port has accepted. Then messages without
 * JSON carry bytes in both directions. Each side may have at most 256 KiB of unacknowledged bytes in flight.
 * `finished` means that a side sends no more. Fails with `port/…` or `sandbox/not-running`.
 */
export const PortConnect = OnSandbox.extend({ kind: z.literal('port'), port: z.int().min(1).max(65_535) })
export type PortConnect = z.infer<typeof PortConnect>

/** Stream of a folder as a tar archive, from the host to the service. Bytes are sent as in `PortConnect`. */
export const FolderArchive = OnPath.extend({ kind: z.literal('archive') })
export type FolderArchive = z.infer<typeof FolderArchive>
