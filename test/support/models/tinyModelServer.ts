import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { getLlama, LlamaLogLevel, type Token } from 'node-llama-cpp'
import { tinyContext } from './tinyModel.ts'

/**
 * llama.cpp with one model behind OpenAI's chat completions, as people run it at home: a program of its own, since the
 * library ends with its process. It prints where it listens. `GET /running` tells how many answers are being made.
 *
 *     node tinyModelServer.ts MODEL.gguf
 */
type Asked = {
  messages: { role: string; content: string }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  max_tokens?: number
  max_completion_tokens?: number
}

const usualTokens = 16
let running = 0

const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error })
const model = await llama.loadModel({ modelPath: process.argv[2] ?? '' })
const context = await model.createContext({ contextSize: tinyContext, sequences: 4, threads: 1 })

const server = createServer(async (request, response) => {
  const send = (body: object): void =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  if (request.url === '/running') return send({ running })
  if (request.url === '/v1/models') return send({ object: 'list', data: [{ id: 'tiny', object: 'model' }] })
  await answer((await json(request)) as Asked, response)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)

async function answer(asked: Asked, response: ServerResponse): Promise<void> {
  const prompt = tokensOf(asked)
  const most = Math.min(asked.max_completion_tokens ?? asked.max_tokens ?? usualTokens, tinyContext - prompt.length)
  const usage = (made: number) => ({
    prompt_tokens: prompt.length,
    completion_tokens: made,
    total_tokens: prompt.length + made,
  })
  const head = { id: 'chatcmpl-tiny', created: 1, model: 'tiny' }
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  running += 1
  try {
    const pieces = generated(prompt, most, leaving.signal)
    if (!asked.stream) {
      let content = ''
      for await (const piece of pieces) content += piece
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'length' }]
      const body = { ...head, object: 'chat.completion', choices, usage: usage(most) }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const tell = (fields: object): void =>
      void response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`)
    for await (const content of pieces) tell({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    tell({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })
    if (asked.stream_options?.include_usage) tell({ choices: [], usage: usage(most) })
    response.end('data: [DONE]\n\n')
  } finally {
    running -= 1
  }
}

function tokensOf({ messages }: Asked): Token[] {
  const text = messages.map(({ role, content }) => `${role}: ${content}\n`).join('')
  const { bos } = model.tokens
  return [...(bos === null ? [] : [bos]), ...model.tokenize(text)]
}

/** The likeliest token each time, until there are enough or nobody reads them. */
async function* generated(prompt: Token[], most: number, signal: AbortSignal): AsyncGenerator<string> {
  const sequence = context.getSequence()
  let left = most
  try {
    for await (const token of sequence.evaluate(prompt, { temperature: 0 })) {
      if (signal.aborted) return
      yield model.detokenize([token])
      left -= 1
      if (left <= 0) return
    }
  } finally {
    await sequence.dispose()
  }
}
