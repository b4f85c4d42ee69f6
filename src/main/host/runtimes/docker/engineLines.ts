import type Docker from 'dockerode'

/** Error reported by the engine within a response stream. */
export class EngineStreamError extends Error {
  constructor(message: string, options?: { cause: unknown }) {
    super(message, options)
    this.name = 'EngineStreamError'
  }
}

/**
 * Reports the progress of an image operation.
 * @returns the last line
 * @throws EngineStreamError
 */
export function followEngine(
  docker: Docker,
  stream: NodeJS.ReadableStream,
  onLine: (line: unknown) => void,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    stream.once('error', (cause) => reject(new EngineStreamError(cause.message, { cause })))
    stream.once('close', () => reject(new EngineStreamError('The connection to the engine closed.')))
    docker.modem.followProgress(
      stream,
      (error, lines: unknown[] | null) => {
        const last = lines?.findLast((line) => findError(line) !== undefined) ?? lines?.at(-1)
        const said = findError(last)
        if (error || said !== undefined)
          reject(new EngineStreamError(said ?? error?.message ?? 'The operation failed.'))
        else resolve(last)
      },
      onLine,
    )
  })
}

function findError(line: unknown): string | undefined {
  return typeof line === 'object' && line !== null && 'error' in line ? String(line.error) : undefined
}
