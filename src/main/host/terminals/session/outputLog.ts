/**
 * Recent output of a terminal, addressed by cursors: byte offsets since its start. Bytes are copied once into immutable
 * blocks, so consumers may hold slices indefinitely.
 */
export type OutputLog = {
  /** Cursor of the oldest available byte. */
  readonly start: number
  /** Cursor after the newest byte. */
  readonly end: number
  append(bytes: Uint8Array): void
  /** Returns contiguous bytes from `from`, at most `maxBytes`. Empty at the end. Never crosses a block. */
  run(from: number, maxBytes: number): Buffer
  /** Returns all bytes between two cursors, as contiguous chunks. */
  runs(from: number, to: number): Buffer[]
  /** Frees blocks that end before `cursor`. Also frees the last block if `cursor` is the end of all output. */
  forget(cursor: number): void
}

type Block = { start: number; used: number; bytes: Buffer }

/** Small first, since most terminals are quiet. */
const firstBlockBytes = 4 * 1024
const blockBytes = 64 * 1024
const emptyBytes = Buffer.alloc(0)

export function createOutputLog(start = 0): OutputLog {
  const blocks: Block[] = []
  let end = start

  const getBlock = (): Block => {
    const last = blocks.at(-1)
    if (last && last.used < last.bytes.length) return last
    const size = last ? blockBytes : firstBlockBytes
    const block = { start: end, used: 0, bytes: Buffer.allocUnsafeSlow(size) }
    blocks.push(block)
    return block
  }

  const run = (from: number, maxBytes: number): Buffer => {
    const block = blocks.findLast((it) => it.start <= from)
    if (!block || from >= end) return emptyBytes
    const offset = from - block.start
    return block.bytes.subarray(offset, Math.min(block.used, offset + maxBytes))
  }

  return {
    get start() {
      return blocks[0]?.start ?? end
    },
    get end() {
      return end
    },
    append(bytes) {
      for (let offset = 0; offset < bytes.length; ) {
        const block = getBlock()
        const count = Math.min(bytes.length - offset, block.bytes.length - block.used)
        block.bytes.set(bytes.subarray(offset, offset + count), block.used)
        block.used += count
        end += count
        offset += count
      }
    },
    run,
    runs(from, to) {
      const chunks: Buffer[] = []
      for (let cursor = from; cursor < to; ) {
        const bytes = run(cursor, to - cursor)
        if (bytes.length === 0) break
        chunks.push(bytes)
        cursor += bytes.length
      }
      return chunks
    },
    forget(cursor) {
      const keep = blocks.findIndex((block) => block.start + block.used > cursor)
      if (keep !== 0) blocks.splice(0, keep === -1 ? blocks.length - (cursor >= end ? 0 : 1) : keep)
    },
  }
}
