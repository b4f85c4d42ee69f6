import { execStreamBytes } from '../sandboxRuntime.ts'

/** Buffer for one output stream of a command. Stores its beginning, up to the maximum size of an exec reply. */
export type OutputBuffer = { take(bytes: Buffer): void; bytes(): Buffer; isTruncated(): boolean }

/** @param heard called with all output, including output beyond the limit */
export function createOutputBuffer(heard?: (bytes: Buffer) => void): OutputBuffer {
  const chunks: Buffer[] = []
  let size = 0
  let truncated = false
  return {
    take(bytes) {
      heard?.(bytes)
      const available = execStreamBytes - size
      if (bytes.length > available) truncated = true
      if (available <= 0) return
      chunks.push(bytes.length > available ? bytes.subarray(0, available) : bytes)
      size += Math.min(bytes.length, available)
    },
    bytes: () => Buffer.concat(chunks, size),
    isTruncated: () => truncated,
  }
}
