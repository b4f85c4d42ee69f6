import { createTokenizers, type Tokenizer } from './tokenizer.ts'
import type { HighlightRequest, HighlightResponse } from './tokens.ts'

/** Runs in a worker thread, so that a slow grammar does not block the window. */
const openTokenizer = createTokenizers()
const blocks = new Map<number, Tokenizer>()
/** Number of lines per response, limited so that rendering one does not block the window. */
const batchSize = 40
let last: Promise<unknown> = Promise.resolve()

self.addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  last = last.then(() => highlightCode(data)).catch(() => {}) // leaves the block plain
})

async function highlightCode(request: HighlightRequest): Promise<void> {
  if (request.type === 'close') {
    blocks.delete(request.block)
    return
  }
  const { block, language, from, lines } = request
  const tokenizer = blocks.get(block) ?? openTokenizer()
  blocks.set(block, tokenizer)
  for (let at = 0; at < lines.length; at += batchSize) {
    const tokens = await tokenizer.take(language, lines.slice(at, at + batchSize))
    if (!tokens) return
    self.postMessage({ block, from: from + at, tokens } satisfies HighlightResponse)
  }
}
