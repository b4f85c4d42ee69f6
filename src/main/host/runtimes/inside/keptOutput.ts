import { execStreamBytes } from '../sandboxRuntime.ts'

/** One stream of a command: its beginning, up to what an exec may answer with. */
export type KeptOutput = { take(bytes: Buffer): void; bytes(): Buffer; truncated(): boolean }

/** @param heard told of all that comes */
export function keptOutput(heard?: (bytes: Buffer) => void): KeptOutput {
  const kept: Buffer[] = []
  let size = 0
  let truncated = false
  return {
    take(bytes) {
      heard?.(bytes)
      const room = execStreamBytes - size
      if (bytes.length > room) truncated = true
      if (room <= 0) return
      kept.push(bytes.length > room ? bytes.subarray(0, room) : bytes)
      size += Math.min(bytes.length, room)
    },
    bytes: () => Buffer.concat(kept, size),
    truncated: () => truncated,
  }
}
