import messages from '../scripts/messages.json' with { type: 'json' }

/**
 * Message kinds from the host to the agent in a container.
 * - `open`: opens a channel: `exec`, `terminal COLS ROWS`, `connect PORT` or a file operation
 * - `input`: the request's fields, each terminated by NUL, and content; or bytes for a port. `finish`: end of input
 * - `typed`: input of a terminal
 * - `used`: credits bytes of output (4 bytes, big-endian)
 * - `drop`: ends the channel immediately
 */
export const hostMessageKinds = messages.agent.requests

/**
 * Message kinds from the agent to the host.
 * - `status`: a status line, see `execProtocol.ts`
 * - `closed`: end of the channel
 * - `took`: credits bytes of input
 */
export const agentMessageKinds = messages.agent.responses

/** Maximum unacknowledged bytes in one direction of a channel. */
export const agentWindow = 262_144
const headBytes = 9
/** Exceeds the largest message of the agent. */
const maxBytes = 65_536

export type AgentMessage = { channel: number; kind: number; content: Buffer }

export function formatAgentMessage(channel: number, kind: number, content: Uint8Array | string = ''): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const message = Buffer.allocUnsafe(headBytes + bytes.length)
  message.writeUInt32BE(channel, 0)
  message.writeUInt8(kind, 4)
  message.writeUInt32BE(bytes.length, 5)
  message.set(bytes, headBytes)
  return message
}

/** @throws Error on a malformed message */
export function createAgentMessageReader(onMessage: (message: AgentMessage) => void): (bytes: Buffer) => void {
  return createCutter({
    headBytes,
    getLength(head) {
      const length = head.readUInt32BE(5)
      if (length > maxBytes) throw new Error(`The agent announced a message of ${length} bytes, which is too large.`)
      return length
    },
    onPiece: (head, content) => onMessage({ channel: head.readUInt32BE(0), kind: head.readUInt8(4), content }),
  })
}

const outputStream = 1
const dockerHeadBytes = 8
const maxDockerBytes = 64 * 1024 * 1024

/**
 * Demultiplexes the output streams of a container.
 * @see https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
 */
export function createOutputReader({
  onOutput,
  onErrors,
}: Record<'onOutput' | 'onErrors', (bytes: Buffer) => void>): (bytes: Buffer) => void {
  return createCutter({
    headBytes: dockerHeadBytes,
    getLength(head) {
      const length = head.readUInt32BE(4)
      if (length > maxDockerBytes)
        throw new Error(`The engine announced a message of ${length} bytes, which is too large.`)
      return length
    },
    onPiece: (head, content) => (head.readUInt8(0) === outputStream ? onOutput(content) : onErrors(content)),
  })
}

type CutterOptions = {
  headBytes: number
  getLength: (head: Buffer) => number
  onPiece: (head: Buffer, content: Buffer) => void
}

/** Copies only messages that span two chunks. */
function createCutter({ headBytes: head, getLength, onPiece }: CutterOptions): (bytes: Buffer) => void {
  let chunks: Buffer[] = []
  let size = 0
  let expectedBytes = head
  return (bytes) => {
    chunks.push(bytes)
    size += bytes.length
    if (size < expectedBytes) return
    let all = chunks.length === 1 ? bytes : Buffer.concat(chunks, size)
    while (all.length >= head) {
      const end = head + getLength(all)
      if (all.length < end) break
      onPiece(all.subarray(0, head), all.subarray(head, end))
      all = all.subarray(end)
    }
    chunks = all.length > 0 ? [all] : []
    size = all.length
    expectedBytes = size < head ? head : head + getLength(all)
  }
}
