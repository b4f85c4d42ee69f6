import type { Duplex } from 'node:stream'
import { AppError } from '#shared/appError.ts'
import type { SandboxId } from '#shared/ids.ts'

/** Whether a machine still runs, and what ends with it. */
export type SandboxLife = {
  isRunning(): boolean
  /** @returns whether this call stops it, rather than finding it stopped */
  beginStop(): boolean
  /** Called when no further work can start in the machine. */
  onConnectionLost(): void
  /** Cuts everything that leads into the machine. @returns why it ended: `sentence`, unless it was stopped */
  end(sentence: string): string
  /** Fires when the machine has ended. */
  over: AbortSignal
  /** @throws AppError `sandbox/not-running`, also for work that failed because the machine ended */
  inside<T>(work: () => Promise<T>): Promise<T>
  /** As `inside`; the connection ends with the machine. */
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
