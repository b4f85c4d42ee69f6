import { AppError } from '#shared/appError.ts'
import type { McpConnection } from './mcpClient.ts'

/** Open connections to servers: created on demand, closed when idle, at most one per server. */
export type ServerConnections = {
  /** @throws AppError `tool-server/failed`, also if the server was opened too often */
  open(id: string, signal: AbortSignal): Promise<McpConnection>
  /** Closes the connection. It may be reopened immediately. */
  end(id: string): Promise<void>
  close(): Promise<void>
}

type Options = {
  connect(id: string, signal: AbortSignal): Promise<McpConnection>
  now: () => number
  /** Idle time after which a connection is closed. */
  idleMs?: number
}

const defaultIdleMs = 5 * 60_000
/** Maximum number of connections per minute, for a server that disconnects repeatedly. */
const maxOpenings = 5
const minuteMs = 60_000

type OpenConnection = { client: Promise<McpConnection>; leaving: AbortController; timer: NodeJS.Timeout | undefined }

export function createServerConnections({ connect, now, idleMs = defaultIdleMs }: Options): ServerConnections {
  const connections = new Map<string, OpenConnection>()
  const openings = new Map<string, number[]>()
  let closed = false

  const end = async (id: string, expected?: OpenConnection): Promise<void> => {
    const connection = connections.get(id)
    if (!connection || (expected && expected !== connection)) return
    connections.delete(id)
    clearTimeout(connection.timer)
    connection.leaving.abort()
    await connection.client
      .then(
        (it) => it.close(),
        () => {},
      )
      .catch(() => {})
  }
  const used = (id: string, connection: OpenConnection): void => {
    clearTimeout(connection.timer)
    connection.timer = setTimeout(() => void end(id, connection), idleMs)
    connection.timer.unref()
  }
  const checkPace = (id: string): void => {
    const recent = (openings.get(id) ?? []).filter((it) => now() - it < minuteMs)
    if (recent.length >= maxOpenings) {
      throw new AppError('tool-server/failed', 'The server keeps exiting. Steward will try again in a minute.')
    }
    openings.set(id, [...recent, now()])
  }

  return {
    async open(id, signal) {
      signal.throwIfAborted()
      const current = connections.get(id)
      if (current) {
        const client = await current.client
        if (client.isOpen()) {
          used(id, current)
          return client
        }
        await end(id, current)
      }
      if (closed) throw new AppError('tool-server/failed', 'Steward is closing.')
      const waiting = connections.get(id)
      if (waiting) return waiting.client
      checkPace(id)
      const leaving = new AbortController()
      const connection: OpenConnection = { client: connect(id, leaving.signal), leaving, timer: undefined }
      connections.set(id, connection)
      used(id, connection)
      connection.client.catch(() => connections.get(id) === connection && connections.delete(id))
      return connection.client
    },
    async end(id) {
      openings.delete(id)
      await end(id)
    },
    async close() {
      closed = true
      await Promise.all([...connections.keys()].map((id) => end(id)))
    },
  }
}
