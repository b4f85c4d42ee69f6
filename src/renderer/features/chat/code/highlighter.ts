import type { HighlightRequest, HighlightResponse, LineTokens } from './tokens.ts'

/** Incremental highlighting of one code block. */
export type Highlighting = {
  /** Adds completed lines. Each line is added once, in order. */
  add(lines: readonly string[]): void
  close(): void
}

type TokenListener = (from: number, tokens: readonly LineTokens[]) => void
type BlockState = { onTokens: TokenListener; waiting: number }

export type Highlighter = {
  /** Starts highlighting a block. @param onTokens called with the tokens of lines as they become available */
  open(language: string, onTokens: TokenListener): Highlighting
  /** Terminates the worker. The next block starts a new one. */
  close(): void
}

/**
 * Timeout for a worker with pending lines. The worker is then assumed to be stuck in a line and is terminated; its
 * blocks stay plain.
 */
const timeoutMs = 8_000

/** Creates a highlighter with one shared worker, started with the first block. */
export function createHighlighter(startWorker: () => Worker): Highlighter {
  const blocks = new Map<number, BlockState>()
  let worker: Worker | undefined
  let next = 0
  let watch: ReturnType<typeof setTimeout> | undefined

  const attend = () => {
    clearTimeout(watch)
    watch = [...blocks.values()].some(({ waiting }) => waiting > 0) ? setTimeout(giveUp, timeoutMs) : undefined
  }
  const giveUp = () => {
    worker?.terminate()
    worker = undefined
    for (const block of blocks.values()) block.waiting = 0
    blocks.clear()
  }
  const ask = (request: HighlightRequest) => {
    if (!worker) {
      worker = startWorker()
      worker.onmessage = ({ data: { block, from, tokens } }: MessageEvent<HighlightResponse>) => {
        const entry = blocks.get(block)
        if (entry) {
          entry.waiting -= tokens.length
          entry.onTokens(from, tokens)
        }
        attend()
      }
      worker.onerror = giveUp
    }
    worker.postMessage(request)
  }
  const open = (language: string, onTokens: TokenListener): Highlighting => {
    next += 1
    const block = next
    const entry: BlockState = { onTokens, waiting: 0 }
    blocks.set(block, entry)
    let from = 0
    return {
      add(lines) {
        if (lines.length === 0 || !blocks.has(block)) return
        entry.waiting += lines.length
        ask({ type: 'lines', block, language, from, lines })
        from += lines.length
        attend()
      },
      close() {
        if (!blocks.delete(block)) return
        if (from > 0) ask({ type: 'close', block })
        attend()
      },
    }
  }
  return {
    open,
    close() {
      clearTimeout(watch)
      giveUp()
    },
  }
}
