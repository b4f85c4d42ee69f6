/**
 * Process that serves chat completions with minimal work. Responses are precomputed. A request is parsed only for its
 * end and its stream flag. Prints its port.
 */
import { createServer } from 'node:net'

const chunks = 200
const usage = { prompt_tokens: 20, completion_tokens: chunks, total_tokens: 20 + chunks }

function answer(head: string, body: string): Buffer {
  return Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
}

const json = answer(
  'content-type: application/json',
  JSON.stringify({
    id: 'chatcmpl-0123456789',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'gpt-5.2-2025-12-11',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Hello! How can I help you today?', refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      ...usage,
      prompt_tokens_details: { cached_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  }),
)

function formatChunk(fields: object): string {
  const chunk = { id: 'chatcmpl-0123456789', object: 'chat.completion.chunk', created: 1_700_000_000 }
  return `data: ${JSON.stringify({ ...chunk, model: 'gpt-5.2-2025-12-11', service_tier: 'default', ...fields })}\n\n`
}
const choice = (delta: object, finish_reason: string | null = null) =>
  formatChunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })

const first = choice({ role: 'assistant', content: '', refusal: null })
const rest = [
  ...Array.from({ length: chunks }, (_, index) => choice({ content: ` word${index}` })),
  choice({}, 'stop'),
  formatChunk({ choices: [], usage }),
  'data: [DONE]\n\n',
].join('')
const streamHead = Buffer.from(
  `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${frame(first)}`,
)
const streamRest = Buffer.from(`${frame(rest)}0\r\n\r\n`)

function frame(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  socket.on('error', () => socket.destroy())
  socket.on('data', (bytes) => {
    pending += bytes.toString('latin1')
    for (let end = findEnd(pending); end > 0; end = findEnd(pending)) {
      const streams = pending.slice(0, end).includes('"stream":true')
      pending = pending.slice(end)
      if (!streams) socket.write(json)
      else {
        socket.write(streamHead)
        setImmediate(() => socket.write(streamRest))
      }
    }
  })
})

/** @returns the end position of the first request, or 0 if it is incomplete */
function findEnd(text: string): number {
  const head = text.indexOf('\r\n\r\n')
  if (head < 0) return 0
  const [, length = '0'] = /^content-length: *(\d+)/im.exec(text.slice(0, head)) ?? []
  const end = head + 4 + Number(length)
  return text.length >= end ? end : 0
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (address && typeof address === 'object') process.stdout.write(`${address.port}\n`)
})
process.stdin.resume().on('end', () => process.exit())
