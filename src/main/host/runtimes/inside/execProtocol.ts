import type { AppError } from '#shared/appError.ts'

/**
 * Operations in a sandbox, served by a script inside. Two transports deliver requests and replies: a connection to the
 * fork server (`bubblewrap/enter.ts`) and a channel of the agent in a container (`docker/agentChannel.ts`).
 */
export type OperationRequest<Mode extends string = string> = {
  mode: Mode
  /** Fields, each sent with a trailing NUL. */
  fields: readonly string[]
  content?: Uint8Array
  onOutput?: (bytes: Buffer) => void
  onErrors?: (bytes: Buffer) => void
}

/** `Started`: access to the operation once it runs. */
export type Operation<Started> = {
  /** Resolves when the command runs or the port is connected. Resolves with undefined on failure. */
  readonly started: Promise<Started | undefined>
  /** Resolves after all output has been delivered. Never rejects. */
  readonly result: Promise<OperationResult>
  /** Kills the command's process group, even if it has not started yet. Ends any other operation. */
  kill(): void
}

/** `started` controls the output: a paused operation is not read. */
export type OperationTransport<Mode extends string = 'exec' | 'read' | 'write' | 'file'> = {
  open(request: OperationRequest<Mode>): Operation<{ pause(): void; resume(): void }>
}

export type OperationResult =
  /** `status` is a wait(2) status. */
  | { kind: 'ended'; status: number }
  /** The command was not run, or the file or port could not be opened. */
  | { kind: 'failed'; stage: string; errno: number }
  | { kind: 'lost'; detail: string }
  /** The request could not be delivered. */
  | { kind: 'refused'; error: AppError }

/** Status line of a script. `exec.pl` describes the lines. */
export type StatusEvent =
  | { kind: 'accepted' }
  | { kind: 'started'; pid: number }
  | { kind: 'failed'; stage: string; errno: number }
  | { kind: 'ended'; status: number }

/** Exceeds the longest status line. A sandbox controls the scripts that run in it, so a line is not trusted. */
export const maxStatusLineBytes = 256

export function encodeFields(fields: readonly string[]): string {
  return fields.map((field) => `${field}\0`).join('')
}

/** @returns undefined for a malformed line */
export function parseStatusLine(line: string): StatusEvent | undefined {
  if (line.length > maxStatusLineBytes) return undefined
  if (line === 'h') return { kind: 'accepted' }
  const [, word, stage = '', digits] = /^(?:([px])|(?:e ([a-z]+))) (\d{1,10})$/.exec(line) ?? []
  if (digits === undefined) return undefined
  const number = Number(digits)
  if (word === 'p') return { kind: 'started', pid: number }
  return word === 'x' ? { kind: 'ended', status: number } : { kind: 'failed', stage, errno: number }
}

/** Status lines of one operation. A malformed line is ignored. */
export type StatusReader = {
  /** @returns the PID if the operation has started with this line */
  receive(line: string): { startedPid: number | undefined }
  /** Result so far. A failure takes precedence over the exit of the process that reported it. */
  result(): OperationResult | undefined
}

export function createStatusReader(): StatusReader {
  let failure: OperationResult | undefined
  let exit: OperationResult | undefined
  return {
    receive(line) {
      const event = parseStatusLine(line)
      if (event?.kind === 'failed') failure ??= event
      else if (event?.kind === 'ended') exit ??= event
      return { startedPid: event?.kind === 'started' && !failure ? event.pid : undefined }
    },
    result: () => failure ?? exit,
  }
}
