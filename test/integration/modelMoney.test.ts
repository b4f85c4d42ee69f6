import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createJsonLog } from '#platform/logging/log.ts'
import type { DialectName } from '#service/inference/dialects/dialect.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { type ModelRequest, micro, modelBody, modelPaths, modelService } from '../support/models/modelService.ts'
import { type ProviderRequest, providerKeys, type Turn } from '../support/models/providerServer.ts'
import { chatFrames, messagesFrames, pieces, plainUsage } from '../support/models/scriptedAnswer.ts'

/** Callers of models pay the cost even if they disconnect or lie. Uses the service's own port and its ledger. */
const logged: string[] = []
const log = createJsonLog({ write: (line) => void logged.push(line), now: Date.now, level: 'debug' })
const models = await modelService({ log, unconfigured: ['e'] })
const { service, providers } = models
afterAll(() => models.close())
beforeEach(() => providers.clear())

const dialects: DialectName[] = ['chat', 'responses', 'messages']
const ways = dialects.flatMap((dialect) => [false, true].map((stream) => ({ dialect, stream })))

/** Creates an account with this balance. */
async function payer(cents: number): Promise<{ key: string }> {
  const { accountId, key } = secondAccount(service.dataDir)
  if (cents > 0) {
    const { status } = await service.send('/v1/credits/grants', {
      body: { to_address: accountId, amount_cents: cents },
    })
    expect(status).toBe(200)
  }
  return { key }
}

const listHistory = async (key: string): Promise<{ type: string; amount_cents: number; metadata?: object }[]> => {
  const { json } = await service.send('/v1/credits/history?limit=100', { key })
  return json.transactions
}

/** Returns a turn whose usage reports the maximum number of output tokens. */
function greedy({ body, path }: ProviderRequest): Turn {
  const isGemini = path.includes('gemini')
    ? body.generationConfig.maxOutputTokens
    : (body.max_completion_tokens ?? body.max_tokens ?? body.max_output_tokens)
  return { parts: [{ text: 'All of it.' }], usage: { ...plainUsage, input: 20, output: isGemini, reasoning: 0 } }
}

test('200 concurrent requests, JSON and streams in all dialects, do not overdraw a small balance', async () => {
  providers.playAlways(greedy)
  const { key } = await payer(30)
  const names = ['gpt-5.2', 'claude-sonnet-4.5', 'gemini-3-pro']
  const requests = Array.from({ length: 200 }, (_, index): ModelRequest => {
    const { dialect, stream } = ways[index % ways.length] ?? { dialect: 'chat', stream: false }
    const limit = { chat: 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' }[dialect]
    return { dialect, stream, key, model: names[index % names.length] ?? '', body: { [limit]: 700 + index } }
  })
  const answers = await Promise.all(requests.map(models.ask))
  const statuses = new Set(answers.map(({ status }) => status))
  expect([...statuses].sort()).toEqual([200, 402])
  const paid = answers.filter(({ status }) => status === 200)
  const spentMicroUsd = paid.reduce((sum, { body }) => sum + body.usage.cost.micro_usd, 0)
  const { posted, held: heldMicroUsd } = await models.balance(key)
  expect(heldMicroUsd).toBe(0)
  expect(posted).toBeGreaterThanOrEqual(0)
  expect(posted).toBe(300_000 - spentMicroUsd)
  const charges = (await listHistory(key)).filter(({ type }) => type === 'inference')
  expect(charges).toHaveLength(paid.length)
})

test.each(ways)('$dialect, stream $stream: charges at most 110 % of the hold', async ({ dialect, stream }) => {
  const { key } = await payer(12)
  const limit = dialect === 'responses' ? 'max_output_tokens' : 'max_tokens'
  const request = { dialect, stream, key, model: 'gpt-5.2', body: { [limit]: 16 } }
  providers.playAlways(() => ({ parts: [{ text: 'x' }], usage: { ...plainUsage, input: 300_000, output: 16 } }))
  const { body } = await models.ask(request)
  expect(body.usage.cost).toMatchObject({ estimated: false })
  expect(body.usage.cost.micro_usd).toBeLessThan(2_000)
  expect(await models.balance(key)).toEqual({ posted: 120_000 - body.usage.cost.micro_usd, held: 0 })
  expect((await listHistory(key)).find(({ type }) => type === 'inference')).toMatchObject({
    metadata: { uncollected_micro_usd: expect.any(Number) },
  })
})

test.each(ways)(
  '$dialect, stream $stream: replaces a count above the context window with an estimate',
  async ({ dialect, stream }) => {
    const { key } = await payer(12)
    providers.playAlways(() => ({ parts: [{ text: 'x' }], usage: { ...plainUsage, input: 5_000_000, output: 1 } }))
    const { body } = await models.ask({ dialect, stream, key, model: 'gpt-5.2' })
    expect(body.usage.cost).toMatchObject({ estimated: true })
    expect(body.usage.cost.micro_usd).toBeLessThan(100)
  },
)

test('checks authentication, request, balance and provider in order in the dialect of the path', async () => {
  const poor = await payer(0)
  const rich = await payer(100)
  const wrong = { body: { messages: [], input: 7 } }
  for (const { dialect, stream } of ways) {
    const requestModel = (fields: Partial<ModelRequest>) =>
      models.ask({ dialect, stream, model: 'qwen3-coder', ...fields })
    const refusals = [
      await requestModel({ key: 'sk_steward_wrong', ...wrong }),
      await requestModel({ ...poor, ...wrong }),
      await requestModel(poor),
      await requestModel(rich),
    ]
    expect(refusals.map(({ status }) => status)).toEqual([401, 400, 402, 503])
    for (const { body, headers } of refusals) {
      expect(headers['content-type']).toMatch(/^application\/json/)
      expect(body.error).toMatchObject({ message: expect.any(String), type: expect.any(String) })
      if (dialect === 'messages') expect(body.type).toBe('error')
      else expect(body.error).toHaveProperty('code')
    }
    expect(JSON.stringify(refusals[2]?.body)).toContain('Insufficient credits')
  }
  expect(providers.requests).toEqual([])
  expect(await models.balance(rich.key)).toEqual({ posted: 1_000_000, held: 0 })
})

test('a 402 response has the documented error message', async () => {
  const { key } = await payer(9)
  expect((await models.ask({ dialect: 'chat', model: 'gpt-5.2', key })).body).toMatchObject({
    error: { message: 'Insufficient credits' },
    detail: 'Minimum balance of 10 cents required. Current balance: 9 cents.',
  })
})

test.each(ways)('$dialect, stream $stream: preserves Retry-After of a provider and charges nothing', async (way) => {
  const { key } = await payer(50)
  providers.playAlways(() => ({ status: 429, headers: { 'retry-after': '31' } }))
  const { status, headers } = await models.ask({ ...way, key, model: 'claude-sonnet-4.5' })
  expect([status, headers['retry-after']]).toEqual([429, '31'])
  expect(await models.balance(key)).toEqual({ posted: 500_000, held: 0 })
})

test('restricts a key to its models and its daily limit under concurrent requests', async () => {
  providers.playAlways(greedy)
  const created = await service.send('/v1/auth/api-keys', {
    body: { name: 'narrow', models: ['gpt-5.2'], daily_limit_cents: 5 },
  })
  const { key, id } = created.json
  for (const way of ways) {
    const { status, body } = await models.ask({ ...way, key, model: 'claude-sonnet-4.5' })
    expect(status).toBe(403)
    expect(JSON.stringify(body)).toContain('claude-sonnet-4.5')
  }
  const before = await models.balance()
  const requests = Array.from({ length: 60 }, (_, index) => ({ ...ways[index % ways.length]!, key, model: 'gpt-5.2' }))
  const answers = await Promise.all(
    requests.map(({ dialect, stream }) => models.ask({ dialect, stream, key, model: 'gpt-5.2' })),
  )
  const spentMicroUsd = answers.reduce(
    (sum, { status, body }) => sum + (status === 200 ? body.usage.cost.micro_usd : 0),
    0,
  )
  expect(spentMicroUsd).toBeGreaterThan(0)
  expect(spentMicroUsd).toBeLessThanOrEqual(50_000)
  expect(answers.filter(({ status }) => status !== 200).every(({ status }) => status === 402)).toBe(true)
  expect(await models.balance()).toEqual({ posted: before.posted - spentMicroUsd, held: 0 })
  const { json } = await service.send('/v1/auth/api-keys')
  const listed = json.api_keys.find((it: { id: string }) => it.id === id)
  expect(micro(listed.spent_today_cents)).toBe(spentMicroUsd)
  await service.send(`/v1/auth/api-keys/${id}`, { method: 'DELETE' })
  expect((await models.ask({ dialect: 'chat', key, model: 'gpt-5.2' })).status).toBe(401)
})

const story = pieces('one two three four five six seven eight nine ten '.repeat(20), 20).join('')
const cutOff = {
  'gpt-5.2': chatFrames({ parts: [{ text: story }], usage: plainUsage }).slice(0, 20),
  'claude-sonnet-4.5': messagesFrames({ parts: [{ text: story }], usage: plainUsage }).slice(0, 20),
} as const

test.each([
  { dialect: 'chat', model: 'gpt-5.2' },
  { dialect: 'messages', model: 'gpt-5.2' },
  { dialect: 'chat', model: 'claude-sonnet-4.5' },
  { dialect: 'messages', model: 'claude-sonnet-4.5' },
  { dialect: 'responses', model: 'claude-sonnet-4.5' },
] as const)(
  '$dialect of $model: charges an estimate for the received part after the client disconnects',
  async ({ dialect, model }) => {
    const { key } = await payer(100)
    providers.play({ frames: [...cutOff[model]], after: 'silence' })
    const leaving = new AbortController()
    const answer = await fetch(service.url + modelPaths[dialect], {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(modelBody({ dialect, model, stream: true })),
      signal: leaving.signal,
    })
    let received = ''
    for await (const piece of answer.body as unknown as AsyncIterable<Uint8Array>) {
      // Node.js's own type
      received += Buffer.from(piece).toString()
      if (received.length > 500) break
    }
    expect(received.length, received).toBeGreaterThan(500)
    leaving.abort()
    await eventually(() => expect(providers.leftConnections()).toBe(1))
    await eventually(async () => expect((await models.balance(key)).held).toBe(0))
    const [charge] = await listHistory(key)
    expect(charge).toMatchObject({ type: 'inference', metadata: { estimated: true } })
    expect(charge?.metadata).toMatchObject({ input_tokens: expect.any(Number), output_tokens: expect.any(Number) })
    const { output_tokens: output, input_tokens: input } = (charge?.metadata ?? {}) as Record<string, number>
    expect(output).toBeGreaterThan(5)
    expect(input).toBeGreaterThan(0)
  },
)

test.each(dialects)(
  '%s: charges the received part and reports an error if the provider fails mid-stream',
  async (dialect) => {
    const { key } = await payer(100)
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    providers.play({ frames: [...cutOff['claude-sonnet-4.5'], error] })
    const { text, status } = await models.ask({ dialect, stream: true, key, model: 'claude-sonnet-4.5' })
    expect(status).toBe(200)
    expect(text).toContain('Overloaded')
    expect(text).not.toContain('[DONE]')
    const [charge] = await listHistory(key)
    expect(charge).toMatchObject({ type: 'inference', metadata: { estimated: true } })
    expect((await models.balance(key)).held).toBe(0)
  },
)

test('disconnecting before the first token closes the provider connection and charges the input', async () => {
  const { key } = await payer(100)
  let finish = () => {}
  providers.play({
    parts: [{ text: 'late' }],
    usage: plainUsage,
    until: new Promise<void>((resolve) => (finish = resolve)),
  })
  const leaving = new AbortController()
  const completion = fetch(`${service.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(modelBody({ dialect: 'chat', model: 'gpt-5.2' })),
    signal: leaving.signal,
  }).catch(() => undefined)
  await eventually(() => expect(providers.requests).toHaveLength(1))
  leaving.abort()
  await completion
  await eventually(() => expect(providers.leftConnections()).toBe(1))
  await eventually(async () => expect((await models.balance(key)).held).toBe(0))
  expect((await listHistory(key))[0]).toMatchObject({
    type: 'inference',
    metadata: { estimated: true, output_tokens: 0 },
  })
  finish()
})

test('provider keys appear in no error, response, log or file of the service', async () => {
  const chunks: string[] = []
  const owners = {
    'gpt-5.2': providerKeys.openai,
    'claude-sonnet-4.5': providerKeys.anthropic,
    'gemini-3-pro': providerKeys.gemini,
    'kimi-k2.5': providerKeys.moonshot,
  }
  for (const [model, secret = ''] of Object.entries(owners)) {
    const message = `The key ${secret} is wrong.`
    const error = { message, code: secret, type: secret, status: secret, param: secret }
    const echoed: Turn[] = [
      { status: 401, body: { error } },
      { status: 400, body: { error } },
      { status: 429, body: { error }, headers: { 'retry-after': secret } },
      { status: 500, body: message },
      { frames: [`data: ${JSON.stringify({ type: 'error', error })}\n\n`] },
      { frames: [...cutOff['gpt-5.2'].slice(0, 3), `data: ${JSON.stringify({ error })}\n\n`] },
      { cut: true },
    ]
    for (const turn of echoed) {
      for (const way of ways) {
        providers.playAlways(() => turn)
        const { text, headers } = await models.ask({ ...way, model })
        chunks.push(text, JSON.stringify(headers))
      }
    }
  }
  const files = await allBytes(service.dataDir)
  for (const [name, secret] of Object.entries(providerKeys)) {
    if (secret === 'none') continue
    expect(chunks.join('\n').includes(secret), `answers: ${name}`).toBe(false)
    expect(logged.join('\n').includes(secret), `log: ${name}`).toBe(false)
    expect(files.includes(secret), `files: ${name}`).toBe(false)
  }
})

async function allBytes(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((it) => it.isFile())
  const texts = await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), 'latin1')))
  return texts.join('\n')
}
