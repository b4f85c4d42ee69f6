import { execStreamBytes } from '../sandboxRuntime.ts'

/** One stream of a command: its beginning, up to what an exec may answer with. */
export type KeptOutput = { take(bytes: Buffer): void; bytes(): Buffer; truncated(): boolean }

export function keptOutput(): KeptOutput {
  const kept: Buffer[] = []
  let size = 0
  let truncated = false
  return {
    take(bytes) {
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
