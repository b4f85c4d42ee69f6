import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { getLlama, LlamaLogLevel, type Token } from 'node-llama-cpp'
import { tinyContext } from './tinyModel.ts'

/**
 * llama.cpp with one model behind OpenAI's chat completions API, as users run it locally. Runs as a separate program,
 * because the library ends with its process. Prints its URL. `GET /running` returns the number of completions in
 * progress.
 */
type CompletionRequest = {
  messages: { role: string; content: string }[]
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  max_tokens?: number
  max_completion_tokens?: number
}

const defaultTokens = 16
let running = 0

const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error })
const model = await llama.loadModel({ modelPath: process.argv[2] ?? '' })
const context = await model.createContext({ contextSize: tinyContext, sequences: 4, threads: 1 })

const server = createServer(async (request, response) => {
  const send = (body: object): void =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  if (request.url === '/running') return send({ running })
  if (request.url === '/v1/models') return send({ object: 'list', data: [{ id: 'tiny', object: 'model' }] })
  await answer((await json(request)) as CompletionRequest, response)
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)

async function answer(completion: CompletionRequest, response: ServerResponse): Promise<void> {
  const prompt = tokenize(completion)
  const maxTokens = Math.min(
    completion.max_completion_tokens ?? completion.max_tokens ?? defaultTokens,
    tinyContext - prompt.length,
  )
  const usage = (completionTokens: number) => ({
    prompt_tokens: prompt.length,
    completion_tokens: completionTokens,
    total_tokens: prompt.length + completionTokens,
  })
  const head = { id: 'chatcmpl-tiny', created: 1, model: 'tiny' }
  const leaving = new AbortController()
  response.once('close', () => leaving.abort())
  running += 1
  try {
    const pieces = generateTokens(prompt, maxTokens, leaving.signal)
    if (!completion.stream) {
      let content = ''
      for await (const piece of pieces) content += piece
      const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'length' }]
      const body = { ...head, object: 'chat.completion', choices, usage: usage(maxTokens) }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
      return
    }
    response.setHeader('content-type', 'text/event-stream')
    const tell = (fields: object): void =>
      void response.write(`data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', ...fields })}\n\n`)
    for await (const content of pieces) tell({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    tell({ choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })
    if (completion.stream_options?.include_usage) tell({ choices: [], usage: usage(maxTokens) })
    response.end('data: [DONE]\n\n')
  } finally {
    running -= 1
  }
}

function tokenize({ messages }: CompletionRequest): Token[] {
  const text = messages.map(({ role, content }) => `${role}: ${content}\n`).join('')
  const { bos } = model.tokens
  return [...(bos === null ? [] : [bos]), ...model.tokenize(text)]
}

/** Yields the most likely token each time, up to the limit or until aborted. */
async function* generateTokens(prompt: Token[], maxTokens: number, signal: AbortSignal): AsyncGenerator<string> {
  const sequence = context.getSequence()
  let remaining = maxTokens
  try {
    for await (const token of sequence.evaluate(prompt, { temperature: 0 })) {
      if (signal.aborted) return
      yield model.detokenize([token])
      remaining -= 1
      if (remaining <= 0) return
    }
  } finally {
    await sequence.dispose()
  }
}
