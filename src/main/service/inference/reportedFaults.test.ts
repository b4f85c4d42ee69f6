import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createGatewayWorld, dialects } from '#test/support/models/gatewayWorld.ts'
import { plainUsage, type ScriptedAnswer, sse } from '#test/support/models/scriptedAnswer.ts'
import { sumInput } from './canonical/canonical.ts'
import { toLocalModel } from './catalogue/modelCatalogue.ts'
import type { DialectName } from './dialects/dialect.ts'
import { modelFamilies } from './families/modelFamilies.ts'

/**
 * Regression tests for bugs that users of other gateways reported. Each number is a row in a list of those bugs. Each
 * row holds for JSON and streams, in every dialect and family to which it applies.
 */

// biome-ignore lint/suspicious/noExplicitAny: JSON of any shape, checked by matchers
type Wire = any

const thinkingQwen = {
  ...toLocalModel('shed', { name: 'qwen-thinking' }),
  kind: 'qwen' as const,
  quirks: modelFamilies.qwen.quirks,
  place: 'e' as const,
  thinksInStreamsOnly: true,
  reasoning: { by: 'toggle' as const, default: 'medium' as const },
}
const world = await createGatewayWorld({
  extra: [thinkingQwen],
  fetchImage: (url) =>
    Promise.resolve({ kind: 'data', mediaType: 'image/png', base64: Buffer.from(url).toString('base64') }),
})
afterAll(() => world.close())
beforeEach(() => world.clear())

const families = ['gpt-5.2', 'claude-sonnet-4.5', 'gemini-3-pro', 'kimi-k2.5', 'qwen3-coder', 'gpt-5.2-codex'] as const
const names: readonly DialectName[] = ['chat', 'responses', 'messages']
const streams = [false, true]

/** Returns every combination of model, dialect and streaming. */
function ways(models: readonly string[] = families, dialects: readonly DialectName[] = names) {
  return models.flatMap((model) =>
    dialects.flatMap((dialect) =>
      streams.map((stream) => ({ model, dialect, stream, way: `${dialect} to ${model}${stream ? ', streamed' : ''}` })),
    ),
  )
}

const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] }
const question = 'What is in it?'

/** Creates a request with one question and tools in each dialect. */
function withTools(dialect: DialectName, tools: string[] = ['read_file'], parameters: Wire = schema): Wire {
  switch (dialect) {
    case 'chat':
      return {
        messages: [{ role: 'user', content: question }],
        tools: tools.map((name) => ({ type: 'function', function: { name, parameters } })),
      }
    case 'responses':
      return { input: question, tools: tools.map((name) => ({ type: 'function', name, parameters })) }
    case 'messages':
      return {
        max_tokens: 4_000,
        messages: [{ role: 'user', content: question }],
        tools: tools.map((name) => ({ name, input_schema: parameters })),
      }
  }
}

/** Creates the client's next request, which contains the response and a result for each of its tool calls. */
function withResults(dialect: DialectName, body: Wire, answer: Wire, results: Record<string, unknown>): Wire {
  const text = (id: string) => {
    const result = results[id] ?? 'done'
    return typeof result === 'string' ? result : JSON.stringify(result)
  }
  switch (dialect) {
    case 'chat': {
      const { message } = answer.choices[0]
      const tools = message.tool_calls.map((call: Wire) => ({
        role: 'tool',
        tool_call_id: call.id,
        content: text(call.id),
      }))
      return { ...body, messages: [...body.messages, message, ...tools] }
    }
    case 'responses': {
      const calls = answer.output.filter((it: Wire) => it.type === 'function_call')
      const outputs = calls.map((call: Wire) => ({
        type: 'function_call_output',
        call_id: call.call_id,
        output: text(call.call_id),
      }))
      const input = typeof body.input === 'string' ? [{ role: 'user', content: body.input }] : body.input
      return { ...body, input: [...input, ...answer.output, ...outputs] }
    }
    case 'messages': {
      const uses = answer.content.filter((it: Wire) => it.type === 'tool_use')
      const content = uses.map((use: Wire) => ({ type: 'tool_result', tool_use_id: use.id, content: text(use.id) }))
      return {
        ...body,
        messages: [...body.messages, { role: 'assistant', content: answer.content }, { role: 'user', content }],
      }
    }
  }
}

type Call = { id: string; name: string; arguments: unknown }

function listCalls(dialect: DialectName, answer: Wire): Call[] {
  switch (dialect) {
    case 'chat':
      return (answer.choices[0].message.tool_calls ?? []).map((tool_call: Wire) => ({
        id: tool_call.id,
        ...tool_call.function,
        arguments: JSON.parse(tool_call.function.arguments),
      }))
    case 'responses':
      return answer.output.flatMap((value: Wire) =>
        value.type === 'function_call'
          ? [{ id: value.call_id, name: value.name, arguments: JSON.parse(value.arguments) }]
          : [],
      )
    case 'messages':
      return answer.content.flatMap((value: Wire) =>
        value.type === 'tool_use' ? [{ id: value.id, name: value.name, arguments: value.input }] : [],
      )
  }
}

const readText = (dialect: DialectName, answer: Wire): string => {
  if (dialect === 'chat') return answer.choices[0].message.content ?? ''
  const parts =
    dialect === 'responses'
      ? answer.output.flatMap((value: Wire) => (value.type === 'message' ? value.content : []))
      : answer.content
  return parts.map((it: Wire) => it.text ?? '').join('')
}

const readThinking = (dialect: DialectName, answer: Wire): string => {
  if (dialect === 'chat') return answer.choices[0].message.reasoning_content ?? ''
  if (dialect === 'messages') return answer.content.map((it: Wire) => it.thinking ?? '').join('')
  return answer.output
    .flatMap((item: Wire) => (item.type === 'reasoning' ? item.summary.map((summary: Wire) => summary.text) : []))
    .join('')
}

const readEnd = (dialect: DialectName, answer: Wire): string => {
  if (dialect === 'chat') return answer.choices[0].finish_reason
  return dialect === 'messages' ? answer.stop_reason : (answer.incomplete_details?.reason ?? answer.status)
}

const createAnswer = (...parts: ScriptedAnswer['parts']): ScriptedAnswer => ({ parts, usage: plainUsage })
const one = { call: 'read_file', id: 'call_one', args: '{"path":"a.txt"}' }
const two = { call: 'read_file', id: 'call_two', args: '{"path":"b.txt"}' }
const ends: Record<DialectName, string> = { chat: 'tool_calls', messages: 'tool_use', responses: 'completed' }
const plain = (dialect: DialectName): Wire => {
  const messages = [{ role: 'user', content: question }]
  if (dialect === 'responses') return { input: question }
  return dialect === 'chat' ? { messages } : { max_tokens: 4_000, messages }
}

describe('tool calls', () => {
  test.each(ways())('1, 2, 6: $way: indexes the calls and reports them in the finish reason', async (way) => {
    world.providers.play(createAnswer({ text: 'I look.' }, one, two))
    const { body, text } = await world.ask(way, withTools(way.dialect))
    expect(listCalls(way.dialect, body)).toEqual([
      { id: 'call_one', name: 'read_file', arguments: { path: 'a.txt' } },
      { id: 'call_two', name: 'read_file', arguments: { path: 'b.txt' } },
    ])
    expect(readEnd(way.dialect, body)).toBe(ends[way.dialect])
    expect(readText(way.dialect, body)).toBe('I look.')
    if (way.dialect === 'chat' && way.stream) {
      const indices = [...text.matchAll(/"tool_calls":\[\{"index":(\d+),"id"/g)].map((it) => it[1])
      expect(indices).toEqual(['0', '1'])
      expect(text.match(/"finish_reason":"/g)).toHaveLength(1)
    }
  })

  test.each(ways(['qwen3-coder', 'kimi-k2.5']))(
    '2: $way: replaces a tool-call finish reason without calls',
    async (way) => {
      world.providers.play({ ...createAnswer({ text: 'No call.' }), finish: 'tool_calls' })
      const { body } = await world.ask(way, withTools(way.dialect))
      expect(readEnd(way.dialect, body)).not.toBe('tool_calls')
      expect(readEnd(way.dialect, body)).not.toBe('tool_use')
    },
  )

  test.each(ways())('3: $way: parses empty arguments as {}', async (way) => {
    world.providers.play(createAnswer({ call: 'read_file', id: 'call_one', args: '' }))
    const { body } = await world.ask(way, withTools(way.dialect))
    expect(listCalls(way.dialect, body)).toEqual([{ id: 'call_one', name: 'read_file', arguments: {} }])
  })

  test.each(streams.map((stream) => ({ stream })))(
    '3: passes malformed arguments unchanged and warns (streamed: $stream)',
    async ({ stream }) => {
      world.providers.play(createAnswer({ call: 'read_file', id: 'call_one', args: '{"path": a.txt' }))
      const { body, headers } = await world.ask({ dialect: 'chat', model: 'kimi-k2.5', stream }, withTools('chat'))
      expect(body.choices[0].message.tool_calls[0].function.arguments).toBe('{"path": a.txt')
      const said = stream ? body.usage.warnings.join() : headers['x-steward-warnings']
      expect(said).toMatch(/arguments of call call_one are not valid JSON/)
    },
  )

  test.each(ways(['gemini-3-pro']))('4: $way: returns thought signatures on the same call', async (way) => {
    world.providers.play(
      createAnswer({ thinking: 'Hm.' }, { ...one, signature: 'c2lnLW9uZQ==' }, two),
      createAnswer({ text: 'Both.' }),
    )
    const requested = withTools(way.dialect)
    const { body } = await world.ask(way, requested)
    await world.ask(way, withResults(way.dialect, requested, body, {}))
    const [first, second] = world.sent().contents.at(-2).parts
    expect(first).toMatchObject({
      thoughtSignature: 'c2lnLW9uZQ==',
      functionCall: { name: 'read_file', args: { path: 'a.txt' } },
    })
    expect(second.thoughtSignature).toBeUndefined()
  })

  test.each(streams.map((stream) => ({ stream })))(
    '4: uses the documented bypass for a history without signatures (streamed: $stream)',
    async ({ stream }) => {
      const call = { id: 'call_one', type: 'function', function: { name: 'read_file', arguments: '{}' } }
      await world.ask(
        { dialect: 'chat', model: 'gemini-3-pro', stream },
        {
          messages: [
            { role: 'user', content: question },
            { role: 'assistant', content: null, tool_calls: [call] },
            { role: 'tool', tool_call_id: 'call_one', content: 'x' },
          ],
        },
      )
      expect(world.sent().contents.at(-2).parts[0].thoughtSignature).toBe('skip_thought_signature_validator')
    },
  )

  test.each(ways(['gemini-3-pro'], ['chat', 'messages', 'responses']))(
    '4: $way: returns the signature of a text on that text',
    async (way) => {
      world.providers.play(createAnswer({ text: 'Signed.', signature: 'dGV4dA==' }))
      const pendingRequest = plain(way.dialect)
      const { body } = await world.ask(way, pendingRequest)
      const more: Wire = {
        chat: () => ({
          messages: [...pendingRequest.messages, body.choices[0].message, { role: 'user', content: 'On' }],
        }),
        messages: () => ({
          max_tokens: 4_000,
          messages: [
            ...pendingRequest.messages,
            { role: 'assistant', content: body.content },
            { role: 'user', content: 'On' },
          ],
        }),
        responses: () => ({
          input: [{ role: 'user', content: question }, ...body.output, { role: 'user', content: 'On' }],
        }),
      }
      await world.ask(way, more[way.dialect]())
      const parts = world.sent().contents[1].parts
      expect(parts.find((it: Wire) => it.thoughtSignature)).toMatchObject({ thoughtSignature: 'dGV4dA==' })
    },
  )

  test.each(ways())('5: $way: matches results of parallel calls to their calls in any order', async (way) => {
    world.providers.play(createAnswer(one, two), createAnswer({ text: 'Both.' }))
    const asked = withTools(way.dialect)
    const { body } = await world.ask(way, asked)
    const next = withResults(way.dialect, asked, body, { call_one: 'first', call_two: 'second' })
    if (way.dialect === 'chat') next.messages.push(...next.messages.splice(-2).reverse())
    if (way.dialect === 'responses') next.input.push(...next.input.splice(-2).reverse())
    if (way.dialect === 'messages') next.messages.at(-1).content.reverse()
    const { body: last } = await world.ask(way, next)
    expect(readText(way.dialect, last)).toBe('Both.')
    const sentBody = world.sent()
    if (sentBody.contents) {
      expect(
        sentBody.contents
          .at(-1)
          .parts.map((part: Wire) => [part.functionResponse.name, part.functionResponse.response.output]),
      ).toEqual([
        ['read_file', 'first'],
        ['read_file', 'second'],
      ])
    }
    if (way.model.startsWith('claude')) {
      const results = sentBody.messages.at(-1).content.map((it: Wire) => it.tool_use_id)
      expect(results.sort()).toEqual(['call_one', 'call_two'])
    }
  })

  test.each(ways())('17: $way: rejects a call without a result before it contacts the provider', async (way) => {
    world.providers.play(createAnswer(one, two))
    const asked = withTools(way.dialect)
    const { body } = await world.ask(way, asked)
    const next = withResults(way.dialect, asked, body, {})
    if (way.dialect === 'chat') next.messages.pop()
    if (way.dialect === 'responses') next.input.pop()
    if (way.dialect === 'messages') next.messages.at(-1).content.pop()
    const refused = await world.refused(way, next)
    expect(refused).toMatchObject({ status: 400, error: { message: expect.stringContaining('"call_two"') } })
    expect(world.providers.requests).toHaveLength(1)
    expect(world.purse.held).toBe(0)
  })

  test.each(ways(undefined, ['chat', 'responses']))(
    '20: $way: accepts parallel_tool_calls without tool_choice and tool_choice without tools',
    async (way) => {
      await world.ask(way, { ...withTools(way.dialect), parallel_tool_calls: false })
      const choice = world.sent().tool_choice
      if (way.model.startsWith('claude')) expect(choice).toEqual({ type: 'auto', disable_parallel_tool_use: true })
      else expect(choice).toBeUndefined()
      await world.ask(way, { ...plain(way.dialect), tool_choice: 'auto', parallel_tool_calls: true })
      expect(world.sent()).not.toHaveProperty('tool_choice')
      expect(world.sent()).not.toHaveProperty('parallel_tool_calls')
    },
  )
})

describe('schemas and data', () => {
  const hard = {
    type: 'object',
    $defs: { level: { type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 } },
    properties: {
      level: { $ref: '#/$defs/level' },
      kind: { const: 'file' },
      size: { type: ['integer', 'null'] },
      $ref: { type: 'string', description: 'a property of that name' },
    },
    required: ['level'],
    additionalProperties: false,
  }

  test.each(ways(['gemini-3-pro', 'gemini-2.5-flash']))(
    '8: $way: rewrites a schema to an equivalent one or warns',
    async (way) => {
      const { headers } = await world.ask(way, withTools(way.dialect, ['read_file'], hard))
      const [
        {
          functionDeclarations: [declared],
        },
      ] = world.sent().tools
      expect(declared.parameters).toEqual({
        type: 'object',
        properties: {
          level: { type: 'integer', minimum: 1, maximum: 9 },
          kind: { type: 'string', enum: ['file'] },
          size: { type: 'integer', nullable: true },
          $ref: { type: 'string', description: 'a property of that name' },
        },
        required: ['level'],
      })
      expect(headers['x-steward-warnings']).toBe('read_file: the schema lost additionalProperties')
    },
  )

  test.each(ways())('9: $way: treats a schema reference within a tool result as data', async (way) => {
    world.providers.play(createAnswer(one), createAnswer({ text: 'Seen.' }))
    const requested = withTools(way.dialect)
    const { body } = await world.ask(way, requested)
    const result = { $ref: '#/components/schemas/Pet', $defs: { a: 1 } }
    await world.ask(way, withResults(way.dialect, requested, body, { call_one: result }))
    expect(JSON.stringify(world.sent())).toContain(JSON.stringify(JSON.stringify(result)))
  })

  test.each(ways(['claude-sonnet-4.5', 'gemini-3-pro', 'kimi-k2.5', 'qwen3-coder'], ['chat', 'messages']))(
    '16: $way: drops blank texts',
    async (way) => {
      const content = [
        { type: 'text', text: '' },
        { type: 'text', text: '  \n' },
        { type: 'text', text: question },
      ]
      const { body } = await world.ask(way, {
        ...(way.dialect === 'messages' && { max_tokens: 100 }),
        messages: [{ role: 'user', content }],
      })
      expect(readText(way.dialect, body)).toBe('Hello from a fake.')
    },
  )

  test.each(ways(['gemini-3-pro', 'kimi-k2.5', 'claude-sonnet-4.5', 'gpt-5.2'], ['chat']))(
    '26: $way: sends images by URL or as data depending on the provider',
    async (way) => {
      const url = 'https://pictures.example/cat.png'
      const content = [
        { type: 'text', text: question },
        { type: 'image_url', image_url: { url } },
      ]
      await world.ask(way, { messages: [{ role: 'user', content }] })
      const sentText = JSON.stringify(world.sent())
      const base64 = Buffer.from(url).toString('base64')
      if (way.model === 'gpt-5.2' || way.model.startsWith('claude')) expect(sentText).toContain(url)
      else {
        expect(sentText).toContain(base64)
        expect(sentText).not.toContain(url)
      }
    },
  )
})

describe('thinking', () => {
  const usage = { ...plainUsage, output: 50, reasoning: 40 }

  test.each(ways(['gemini-3-pro', 'gpt-5.2', 'gpt-5.2-codex', 'claude-sonnet-4.5']))(
    '10: $way: bills and reports thinking tokens as output',
    async (way) => {
      world.providers.play({ parts: [{ text: 'Thought out.' }], usage })
      const { body } = await world.ask(way, plain(way.dialect))
      const expected = {
        chat: body.usage.completion_tokens_details,
        responses: body.usage.output_tokens_details,
        messages: body.usage.output_tokens_details,
      }[way.dialect]
      expect(expected?.reasoning_tokens ?? expected?.thinking_tokens).toBe(40)
      expect(world.purse.charges[0]?.usage).toMatchObject({ output: 50, reasoning: 40 })
    },
  )

  test.each(ways(['gemini-3-pro', 'kimi-k2.5', 'claude-sonnet-4.5']))(
    '$way: separates thinking from the text',
    async (way) => {
      const signature = way.model.startsWith('claude') ? { signature: 'c2ln' } : {}
      world.providers.play(createAnswer({ thinking: 'Let me see.', ...signature }, { text: 'It is so.' }))
      const { body } = await world.ask(way, plain(way.dialect))
      expect(readThinking(way.dialect, body)).toBe('Let me see.')
      expect(readText(way.dialect, body)).toBe('It is so.')
    },
  )

  test.each(ways(['claude-sonnet-4.5']))(
    '18: $way: returns signed, empty and redacted thinking byte for byte',
    async (way) => {
      const parts: ScriptedAnswer['parts'] = [
        { thinking: 'First — “thought”.', signature: 'c2lnLTE=' },
        { thinking: '', signature: 'c2lnLTI=' },
        { redacted: 'cmVkYWN0ZWQ=' },
        one,
      ]
      world.providers.play(createAnswer(...parts), createAnswer({ text: 'Done.' }))
      const thinks: Wire = {
        chat: { reasoning_effort: 'low' },
        responses: { reasoning: { effort: 'low' } },
        messages: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      }
      const requested = { ...withTools(way.dialect), ...thinks[way.dialect] }
      const { body } = await world.ask(way, requested)
      await world.ask(way, withResults(way.dialect, requested, body, {}))
      expect(world.sent().thinking).toMatchObject({ type: 'enabled' })
      expect(world.sent().messages[1].content).toEqual([
        { type: 'thinking', thinking: 'First — “thought”.', signature: 'c2lnLTE=' },
        { type: 'thinking', thinking: '', signature: 'c2lnLTI=' },
        { type: 'redacted_thinking', data: 'cmVkYWN0ZWQ=' },
        { type: 'tool_use', id: 'call_one', name: 'read_file', input: { path: 'a.txt' } },
      ])
    },
  )

  test.each(ways(['kimi-k2.5']))('21: $way: sends the thinking of Kimi back with its calls', async (way) => {
    world.providers.play(createAnswer({ thinking: 'I need the file.' }, one), createAnswer({ text: 'Done.' }))
    const pendingRequest = withTools(way.dialect)
    const { body } = await world.ask(way, pendingRequest)
    await world.ask(way, withResults(way.dialect, pendingRequest, body, {}))
    const assistant = world.sent().messages.find((it: Wire) => it.role === 'assistant')
    expect(assistant.reasoning_content).toBe('I need the file.')
  })

  test.each(ways(['qwen-thinking']))(
    '22: $way: streams a model that thinks only in streams and collects JSON',
    async (way) => {
      world.providers.play(createAnswer({ thinking: 'Hm.' }, { text: 'Yes.' }))
      const thinks: Wire = {
        chat: { reasoning_effort: 'high' },
        responses: { reasoning: { effort: 'high' } },
        messages: { thinking: { type: 'enabled', budget_tokens: 2_000 } },
      }
      const { body } = await world.ask(way, { ...plain(way.dialect), ...thinks[way.dialect] })
      expect(world.sent()).toMatchObject({ enable_thinking: true, stream: true })
      expect([readThinking(way.dialect, body), readText(way.dialect, body)]).toEqual(['Hm.', 'Yes.'])
    },
  )

  test.each(ways(['gpt-5.2', 'gpt-5.2-codex'], ['responses']))(
    '28: $way: returns encrypted reasoning items unchanged',
    async (way) => {
      world.providers.play(
        createAnswer({ thinking: 'Secret.', signature: 'gAAAA-sealed' }, one),
        createAnswer({ text: 'Done.' }),
      )
      const asked = { ...withTools('responses'), include: ['reasoning.encrypted_content'], store: false }
      const { body } = await world.ask(way, asked)
      await world.ask(way, withResults('responses', asked, body, {}))
      const item = world.sent().input.find((it: Wire) => it.type === 'reasoning')
      expect(item).toEqual({
        id: 'rs_0',
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'Secret.' }],
        encrypted_content: 'gAAAA-sealed',
      })
    },
  )

  test.each(ways(['gpt-5.2-codex'], ['chat', 'messages']))(
    '28: $way: returns encrypted reasoning through another dialect',
    async (way) => {
      world.providers.play(
        createAnswer({ thinking: 'Secret.', signature: 'gAAAA-sealed' }, one),
        createAnswer({ text: 'Done.' }),
      )
      const asked = withTools(way.dialect)
      const { body } = await world.ask(way, asked)
      await world.ask(way, withResults(way.dialect, asked, body, {}))
      const item = world.sent().input.find((it: Wire) => it.type === 'reasoning')
      expect(item?.encrypted_content).toBe('gAAAA-sealed')
    },
  )
})

describe('unsupported parameters', () => {
  test.each(ways(['gpt-5-mini', 'kimi-k2.5', 'gpt-5.2-codex'], ['chat', 'responses']))(
    '19: $way: drops sampling parameters and warns',
    async (way) => {
      const { headers } = await world.ask(way, { ...plain(way.dialect), temperature: 0.2, top_p: 0.5 })
      expect(world.sent()).not.toHaveProperty('temperature')
      expect(headers['x-steward-warnings']).toMatch(/temperature ignored.*top_p ignored/)
    },
  )

  test.each(ways(['gpt-5.2'], ['chat', 'responses']))(
    '19: $way: drops the temperature only while the model thinks',
    async (way) => {
      await world.ask(way, { ...plain(way.dialect), temperature: 0.2 })
      expect(world.sent().temperature).toBe(0.2)
      const thinks = way.dialect === 'chat' ? { reasoning_effort: 'high' } : { reasoning: { effort: 'high' } }
      await world.ask(way, { ...plain(way.dialect), temperature: 0.2, ...thinks })
      expect(world.sent()).not.toHaveProperty('temperature')
    },
  )

  test.each(ways(['claude-opus-4.6', 'gemini-3-pro']))(
    '19: $way: accepts a thinking budget for models without budgets',
    async (way) => {
      const thinks: Wire = {
        chat: { reasoning: { max_tokens: 20_000 } },
        responses: { reasoning: { effort: 'high' } },
        messages: { thinking: { type: 'enabled', budget_tokens: 3_000 } },
      }
      const { body } = await world.ask(way, { ...plain(way.dialect), ...thinks[way.dialect] })
      expect(readText(way.dialect, body)).toBe('Hello from a fake.')
    },
  )

  test.each(ways(['gemini-2.5-pro'], ['chat', 'responses']))(
    '19: $way: rejects a response format combined with tools',
    async (way) => {
      const format: Wire =
        way.dialect === 'chat'
          ? { response_format: { type: 'json_object' } }
          : { text: { format: { type: 'json_object' } } }
      expect(await world.refused(way, { ...withTools(way.dialect), ...format })).toMatchObject({ status: 400 })
      expect(world.providers.requests).toEqual([])
    },
  )

  test.each(ways(['claude-opus-4.6'], ['chat', 'messages']))(
    '19: $way: rejects an assistant message prefilled by the caller',
    async (way) => {
      const messages = [
        { role: 'user', content: question },
        { role: 'assistant', content: 'It is' },
      ]
      expect(await world.refused(way, { max_tokens: 100, messages })).toMatchObject({ status: 400 })
    },
  )
})

describe('usage', () => {
  const usage = { input: 100, cacheRead: 900, cacheWrite5m: 0, cacheWrite1h: 0, output: 10, reasoning: 0 }

  test.each(ways())('11: $way: counts cached tokens once', async (way) => {
    world.providers.play({ parts: [{ text: 'Cached.' }], usage })
    const { body } = await world.ask(way, plain(way.dialect))
    expect(world.purse.charges[0]?.usage).toMatchObject({ input: 100, cacheRead: 900, output: 10 })
    const expected: Wire = {
      chat: { prompt_tokens: 1_000, total_tokens: 1_010, prompt_tokens_details: { cached_tokens: 900 } },
      responses: { input_tokens: 1_000, input_tokens_details: { cached_tokens: 900 } },
      messages: { input_tokens: 100, cache_read_input_tokens: 900 },
    }
    expect(body.usage).toMatchObject(expected[way.dialect])
  })

  test.each(ways(['claude-sonnet-4.5']))(
    '13: $way: bills 5-minute and 1-hour cache writes at their prices',
    async (way) => {
      const written = { input: 1_000, cacheRead: 0, cacheWrite5m: 1_000, cacheWrite1h: 1_000, output: 0, reasoning: 0 }
      world.providers.play({ parts: [{ text: 'Kept.' }], usage: written })
      await world.ask(way, plain(way.dialect))
      expect(world.purse.charges[0]?.amountMicroUsd).toBe(3_000 + 3_750 + 6_000)
    },
  )

  test.each(names.map((dialect) => ({ dialect })))(
    '12: $dialect: uses the last value of cumulative usage, including 0',
    async ({ dialect }) => {
      const start = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [],
        usage: { input_tokens: 50, cache_read_input_tokens: 70, output_tokens: 1 },
      }
      const frames = [
        sse({ type: 'message_start', message: start }, 'message_start'),
        sse(
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          'content_block_start',
        ),
        sse(
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
          'content_block_delta',
        ),
        sse({ type: 'content_block_stop', index: 0 }, 'content_block_stop'),
        sse({ type: 'message_delta', delta: {}, usage: { output_tokens: 5 } }, 'message_delta'),
        sse(
          {
            type: 'message_delta',
            delta: { stop_reason: 'end_turn' },
            usage: { output_tokens: 9, cache_read_input_tokens: 0 },
          },
          'message_delta',
        ),
        sse({ type: 'message_stop' }, 'message_stop'),
      ]
      world.providers.play({ frames })
      await world.ask({ dialect, model: 'claude-sonnet-4.5', stream: true }, plain(dialect))
      expect(world.purse.charges).toMatchObject([{ usage: { input: 50, cacheRead: 0, output: 9 }, estimated: false }])
    },
  )

  const chunk = (delta: Wire, rest: Wire = {}, finish: string | null = null) =>
    sse({
      id: 'c',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'm',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...rest,
    })
  const createUsage = (prompt: number, completion: number) => ({
    usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
  })

  test.each(names.map((dialect) => ({ dialect })))(
    '14, 27: $dialect: bills usage repeated on several chunks once',
    async ({ dialect }) => {
      world.providers.play({
        frames: [
          chunk({ role: 'assistant', content: '' }, createUsage(0, 0)),
          chunk({ content: 'Hi' }, createUsage(20, 1)),
          chunk({}, createUsage(20, 2), 'stop'),
          chunk({}, createUsage(20, 2)),
          sse('[DONE]'),
        ],
      })
      const { body, text } = await world.ask({ dialect, model: 'qwen3-coder', stream: true }, plain(dialect))
      expect(world.purse.charges).toMatchObject([{ usage: { input: 20, output: 2 }, estimated: false }])
      expect(readText(dialect, body)).toBe('Hi')
      if (dialect === 'chat') expect(text.match(/"usage":\{/g)).toHaveLength(1)
    },
  )

  test.each(names.map((dialect) => ({ dialect })))(
    '27: $dialect: estimates the usage when the provider reports only 0',
    async ({ dialect }) => {
      world.providers.play({
        frames: [chunk({ content: 'Hello there' }, createUsage(0, 0)), chunk({}, {}, 'stop'), sse('[DONE]')],
      })
      const { body } = await world.ask({ dialect, model: 'qwen3-coder', stream: true }, plain(dialect))
      expect(world.purse.charges).toMatchObject([{ estimated: true }])
      expect(sumInput(world.purse.charges[0]!.usage)).toBeGreaterThan(0)
      expect(body.usage.cost.estimated).toBe(true)
    },
  )
})

describe('finish reasons and errors', () => {
  const stops = [
    {
      native: 'refusal',
      model: 'claude-sonnet-4.5',
      chat: 'content_filter',
      messages: 'refusal',
      responses: 'completed',
    },
    { native: 'pause_turn', model: 'claude-sonnet-4.5', chat: 'stop', messages: 'pause_turn', responses: 'completed' },
    {
      native: 'model_context_window_exceeded',
      model: 'claude-sonnet-4.5',
      chat: 'length',
      messages: 'model_context_window_exceeded',
      responses: 'max_output_tokens',
    },
    {
      native: 'SAFETY',
      model: 'gemini-3-pro',
      chat: 'content_filter',
      messages: 'refusal',
      responses: 'content_filter',
    },
    {
      native: 'RECITATION',
      model: 'gemini-3-pro',
      chat: 'content_filter',
      messages: 'refusal',
      responses: 'content_filter',
    },
    {
      native: 'MAX_TOKENS',
      model: 'gemini-3-pro',
      chat: 'length',
      messages: 'max_tokens',
      responses: 'max_output_tokens',
    },
    { native: 'length', model: 'kimi-k2.5', chat: 'length', messages: 'max_tokens', responses: 'max_output_tokens' },
  ]
  const rows = stops.flatMap((stop) =>
    names.flatMap((dialect) => streams.map((stream) => ({ ...stop, dialect, stream }))),
  )

  test.each(rows)(
    '15: maps $native in $dialect (streamed: $stream)',
    async ({ native, model, dialect, stream, ...expected }) => {
      world.providers.play({ ...createAnswer({ text: 'Some text' }), finish: native })
      const { body } = await world.ask({ dialect, model, stream }, plain(dialect))
      expect(readEnd(dialect, body)).toBe(expected[dialect])
      expect(dialect === 'chat' ? body.choices[0].native_finish_reason : body.native_finish_reason).toBe(native)
    },
  )

  const gemini = (fields: Wire) => ({ usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 }, ...fields })
  const empty = [
    {
      what: 'MALFORMED_FUNCTION_CALL',
      chunk: gemini({ candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(x)' }] }),
      status: 502,
    },
    {
      what: 'MALFORMED_FUNCTION_CALL',
      chunk: gemini({
        candidates: [
          { finishReason: 'MALFORMED_FUNCTION_CALL', content: { role: 'model', parts: [{ text: 'I call it.' }] } },
        ],
      }),
      status: 502,
    },
    { what: 'STOP', chunk: gemini({ candidates: [{ finishReason: 'STOP' }] }), status: 502 },
    {
      what: 'PROHIBITED_CONTENT',
      chunk: gemini({ promptFeedback: { blockReason: 'PROHIBITED_CONTENT' } }),
      status: 400,
    },
    {
      what: 'SAFETY',
      chunk: gemini({ candidates: [{ finishReason: 'SAFETY', content: { role: 'model', parts: [] } }] }),
      status: 400,
    },
  ].flatMap((item) => names.flatMap((dialect) => streams.map((stream) => ({ ...item, dialect, stream }))))

  test.each(empty)(
    '7: $what without content is an error in $dialect (streamed: $stream)',
    async ({ what, chunk, status, dialect, stream }) => {
      world.providers.play(stream ? { frames: [sse(chunk)] } : { status: 200, body: chunk })
      const request = { dialect, model: 'gemini-3-pro', stream }
      if (stream) {
        const { text } = await world
          .ask(request, plain(dialect))
          .catch((error: unknown) => ({ text: JSON.stringify(dialects[dialect].writeFailure(error as never)) }))
        expect(text).toContain(what)
      } else {
        expect(await world.refused(request, plain(dialect))).toMatchObject({
          status,
          error: { message: expect.stringContaining(what) },
        })
      }
      expect(world.purse.held).toBe(0)
    },
  )

  const broken: Record<string, string[]> = {
    'gpt-5.2': [
      sse({
        id: 'c',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta: { content: 'Half' }, finish_reason: null }],
      }),
      sse({ error: { message: 'The server had an error', type: 'server_error' } }),
      sse('[DONE]'),
    ],
    'claude-sonnet-4.5': [
      sse(
        {
          type: 'message_start',
          message: {
            id: 'm',
            type: 'message',
            role: 'assistant',
            content: [],
            usage: { input_tokens: 9, output_tokens: 1 },
          },
        },
        'message_start',
      ),
      sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }, 'content_block_start'),
      sse(
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
        'content_block_delta',
      ),
      sse({ type: 'error', error: { type: 'overloaded_error', message: 'The server had an error' } }, 'error'),
    ],
    'gemini-3-pro': [
      sse({ candidates: [{ content: { role: 'model', parts: [{ text: 'Half' }] } }] }),
      sse({ error: { code: 500, message: 'The server had an error', status: 'INTERNAL' } }),
    ],
  }
  const brokenRows = Object.keys(broken).flatMap((model) =>
    names.filter((dialect) => !(dialect === 'responses' && model === 'gpt-5.2')).map((dialect) => ({ model, dialect })),
  )

  test.each(brokenRows)(
    '24: $model in $dialect: ends the stream with the error and bills the received part',
    async ({ model, dialect }) => {
      world.providers.play({ frames: broken[model] ?? [] })
      const { text } = await world.ask({ dialect, model, stream: true }, plain(dialect))
      expect(text).toContain('Half')
      expect(text).not.toContain('[DONE]')
      const last = text.trimEnd().split('\n\n').at(-1) ?? ''
      expect(last).toContain('The server had an error')
      expect(last.startsWith(dialect === 'chat' ? 'data: {"error":' : 'event: error\n')).toBe(true)
      expect(text.endsWith('\n\n')).toBe(true)
      expect(world.purse.charges).toMatchObject([{ estimated: true }])
      expect(world.purse.held).toBe(0)
    },
  )

  const errors: Record<string, unknown> = {
    'gpt-5.2': { error: { message: 'Something broke', type: 'server_error' } },
    'kimi-k2.5': { error: 'Something broke' },
    'claude-sonnet-4.5': { type: 'error', error: { type: 'api_error', message: 'Something broke' } },
    'gemini-3-pro': { error: { code: 500, message: 'Something broke' } },
  }
  const errorRows = ways(Object.keys(errors))

  test.each(errorRows)('25: $way: treats a 200 with an error body as an error', async (way) => {
    const body = errors[way.model]
    world.providers.play(way.stream ? { frames: [sse(body)] } : { status: 200, body })
    const { status, error } = await world.refused(way, plain(way.dialect))
    expect(status).toBeGreaterThanOrEqual(500)
    expect(error.message).toMatch(/Something broke|returned an error/)
    expect(world.purse).toMatchObject({ held: 0, charges: [] })
  })

  test.each(ways(['claude-sonnet-4.5', 'gemini-3-pro', 'gpt-5.2', 'gpt-5.2-codex']).filter((it) => it.stream))(
    '29: $way: closes the provider connection when the client disconnects and bills the received part',
    async (way) => {
      const half = { ...createAnswer({ text: 'A long answer that nobody waits for. '.repeat(20) }) }
      const { messagesFrames, geminiFrames, chatFrames } = await import('#test/support/models/scriptedAnswer.ts')
      const { responsesFrames } = await import('#test/support/models/scriptedResponses.ts')
      const native = way.model === 'gpt-5.2-codex' || (way.model === 'gpt-5.2' && way.dialect === 'responses')
      const frames = native
        ? responsesFrames(half)
        : way.model === 'gpt-5.2'
          ? chatFrames(half)
          : way.model.startsWith('claude')
            ? messagesFrames(half)
            : geminiFrames(half)
      world.providers.play({ frames: frames.slice(0, 60), after: 'silence' })
      const leaving = new AbortController()
      const answer = await world.frames(way, plain(way.dialect), leaving.signal)
      if (answer.kind !== 'stream') throw new Error('It is no stream.')
      let text = ''
      const reading = (async () => {
        for await (const frame of answer.frames) {
          text += frame
          if (text.length > 3_000) leaving.abort()
        }
      })()
      await reading
      const { eventually } = await import('#test/support/assertions/eventually.ts')
      await eventually(() => expect(world.providers.leftConnections()).toBe(1))
      await eventually(() => expect(world.purse.charges).toHaveLength(1))
      const [charge] = world.purse.charges
      expect(charge).toMatchObject({ estimated: true })
      expect(charge!.usage.output).toBeGreaterThan(5)
      expect(sumInput(charge!.usage)).toBeGreaterThan(0)
      expect(world.purse.held).toBe(0)
    },
  )
})
