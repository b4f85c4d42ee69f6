import type { Duplex } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'

/** Lifecycle of a sandbox, and resources that end with it. */
export type SandboxLife = {
  isRunning(): boolean
  /** @returns true if this call begins the stop, or false if the sandbox is already stopping or stopped */
  beginStop(): boolean
  /** Marks the sandbox as not running, because no further operation can start in it. */
  onConnectionLost(): void
  /** Closes all connections into the sandbox. @returns the reason: `sentence`, or a fixed one after a requested stop */
  end(sentence: string): string
  /** Aborts when the sandbox has ended. */
  over: AbortSignal
  /** @throws AppError `sandbox/not-running`, also for operations that failed because the sandbox ended */
  inside<T>(work: () => Promise<T>): Promise<T>
  /** Like `inside`. The connection is destroyed when the sandbox ends. */
  trackConnection<Connection extends Duplex>(connect: () => Promise<Connection>): Promise<Connection>
}

export function createSandboxLife(id: SandboxId): SandboxLife {
  const over = new AbortController()
  const connections = new Set<Duplex>()
  let stopping = false
  let running = true

  const inside = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running && !stopping) {
      try {
        return await work()
      } catch (error) {
        if (running && !stopping) throw error
      }
    }
    throw new AppError('sandbox/not-running', `Sandbox ${id} is not running.`)
  }

  return {
    isRunning: () => running && !stopping,
    beginStop() {
      if (stopping || !running) return false
      stopping = true
      return true
    },
    onConnectionLost() {
      running = false
    },
    end(sentence) {
      running = false
      over.abort()
      for (const connection of connections) connection.destroy()
      return stopping ? 'It was stopped.' : sentence
    },
    over: over.signal,
    inside,
    trackConnection: (connect) =>
      inside(async () => {
        const connection = await connect()
        connections.add(connection)
        connection.once('close', () => connections.delete(connection))
        if (!running) connection.destroy()
        return connection
      }),
  }
}
