import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { microBalance } from '../support/models/modelService.ts'
import { tinyContext, tinyModel } from '../support/models/tinyModel.ts'
import { exchange, runningService, type TestService } from '../support/processes/runningService.ts'

/** A real model: llama.cpp beside the service, called by the SDKs of two providers. */
let home: Awaited<ReturnType<typeof modelAtHome>>
let service: TestService
let openai: OpenAI

beforeAll(async () => {
  home = await modelAtHome()
  const models = [{ name: 'tiny', context_window: tinyContext, max_output_tokens: 900 }]
  const shed = { name: 'shed', baseUrl: `${home.url}/v1`, models }
  service = await runningService({ host: 'none', inference: { families: {}, models: {}, local: [shed] } })
  openai = new OpenAI({ baseURL: `${service.url}/v1`, apiKey: service.key, maxRetries: 0 })
})
afterAll(async () => {
  await service?.close()
  await home?.close()
})

async function modelAtHome() {
  const file = join(temporaryFolder('model'), 'tiny.gguf')
  writeFileSync(file, tinyModel())
  const program = join(import.meta.dirname, '../support/models/tinyModelServer.ts')
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const [url] = (await Promise.race([once(createInterface(child.stdout), 'line'), ended])) as [string]
  return {
    url,
    running: async () => (await exchange(url, '/running', {})).json.running,
    async close() {
      child.kill()
      await ended
    },
  }
}

const messages = [{ role: 'user' as const, content: 'Grüße aus dem Schuppen' }]
const completion = { model: 'tiny', messages, max_tokens: 24 }

test('a local model returns equal tokens as JSON and as a stream for free', async () => {
  const before = await microBalance(service.url, service.key)
  const plain = await openai.chat.completions.create(completion)
  const text = plain.choices[0]?.message.content ?? ''
  expect(text).toHaveLength(24)
  expect(plain).toMatchObject({
    usage: { completion_tokens: 24, cost: { estimated: false } },
    choices: [{ finish_reason: 'length' }],
  })
  expect(plain.usage?.prompt_tokens).toBeGreaterThan(messages[0]?.content.length ?? 0)

  const pieces: string[] = []
  let usage: unknown
  const stream = await openai.chat.completions.create({
    ...completion,
    stream: true,
    stream_options: { include_usage: true },
  })
  for await (const chunk of stream) {
    const [choice] = chunk.choices
    if (choice?.delta.content) pieces.push(choice.delta.content)
    usage = chunk.usage ?? usage
  }
  expect(pieces.length).toBeGreaterThan(12)
  expect(pieces.join('')).toBe(text)
  expect(usage).toMatchObject({ completion_tokens: 24, prompt_tokens: plain.usage?.prompt_tokens })
  expect(await microBalance(service.url, service.key)).toEqual(before)
})

test('returns the same text in the dialects of other vendors', async () => {
  const text = (await openai.chat.completions.create(completion)).choices[0]?.message.content
  const anthropic = new Anthropic({ baseURL: service.url, apiKey: service.key, maxRetries: 0 })
  const message = await anthropic.messages.stream({ model: 'tiny', max_tokens: 24, messages }).finalMessage()
  expect(message).toMatchObject({ content: [{ type: 'text', text }], stop_reason: 'max_tokens' })
  expect(message.usage.output_tokens).toBe(24)
  const response = await openai.responses.create({
    ...{ model: 'tiny', input: messages, max_output_tokens: 24, store: false },
  })
  expect([response.output_text, response.status]).toEqual([text, 'incomplete'])
})

test('disconnecting ends the work of the model', async () => {
  const leaving = new AbortController()
  const stream = await openai.chat.completions.create(
    { ...completion, max_tokens: 900, stream: true },
    { signal: leaving.signal },
  )
  for await (const chunk of stream) {
    if (!chunk.choices[0]?.delta.content) continue
    expect(await home.running()).toBe(1)
    leaving.abort()
    break
  }
  await eventually(async () => expect(await home.running()).toBe(0))
})
