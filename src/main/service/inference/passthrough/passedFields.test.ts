import { afterAll, beforeEach, expect, test } from 'vitest'
import { createGatewayWorld, type GatewayRequest } from '#test/support/models/gatewayWorld.ts'
import { filterBetas } from './messagesFields.ts'

const world = await createGatewayWorld()
afterAll(() => world.close())
beforeEach(() => world.clear())

const user = { role: 'user', content: 'hi' }
const request = {
  responses: { dialect: 'responses', model: 'gpt-5.2', stream: false },
  messages: { dialect: 'messages', model: 'claude-haiku-4.5', stream: false },
  chat: { dialect: 'chat', model: 'kimi-k2.5', stream: false },
} as const satisfies Record<string, GatewayRequest>

const bodies = {
  responses: (fields: object) => ({ max_output_tokens: 16, input: [user], ...fields }),
  messages: (fields: object) => ({ max_tokens: 16, messages: [user], ...fields }),
  chat: (fields: object) => ({ max_tokens: 16, messages: [user], ...fields }),
}
const says = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const inputs = (...content: object[]) => ({ input: [{ role: 'user', content }] })
const text = { type: 'text', text: 'x' }
const pdf = 'data:application/pdf;base64,AAAA'

test.each<[keyof typeof bodies, string, object]>([
  ['responses', 'previous_response_id', { previous_response_id: 'resp_of_others' }],
  ['responses', 'conversation', { conversation: 'conv_of_others' }],
  ['responses', 'prompt', { prompt: { id: 'pmpt_of_others' } }],
  ['responses', 'input[0]', { input: [{ type: 'item_reference', id: 'msg_of_others' }, user] }],
  ['responses', 'input[0]', { input: [{ type: null, id: 'msg_of_others' }, user] }],
  ['responses', 'input[0]', { input: [{ id: 'msg_of_others' }, user] }],
  [
    'responses',
    'input[0].content[0].file_id',
    inputs({ type: 'input_image', image_url: 'data:image/png;base64,AAAA', file_id: 'file-1' }),
  ],
  ['responses', 'input[0].content[0].file_id', inputs({ type: 'input_file', file_data: pdf, file_id: 'file-1' })],
  [
    'responses',
    'input[0].content[0].file_url',
    inputs({ type: 'input_file', file_data: pdf, file_url: 'https://x.example/a' }),
  ],
  [
    'responses',
    'input[0].output.file_id',
    {
      input: [
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', file_id: 'f' } },
        user,
      ],
    },
  ],
  [
    'responses',
    'input[0].content[1].file_id',
    inputs({ type: 'input_text', text: 'x' }, { type: 'computer_screenshot', file_id: 'file-1' }),
  ],
  ['responses', 'tools[0].vector_store_ids', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }],
  ['responses', 'tools[0].container', { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }],
  [
    'responses',
    'tools[0].environment',
    { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_1' } }] },
  ],
  ['responses', 'tools[0].environment', { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] }],
  ['messages', 'thread', { thread: { type: 'continue', previous_message_id: 'msg_of_others' } }],
  ['messages', 'container', { container: 'cntr_x' }],
  ['messages', 'messages[0].content[1].file_id', says(text, { type: 'container_upload', file_id: 'file-1' })],
  [
    'messages',
    'messages[0].content[0].source.file_id',
    says({ type: 'document', source: { type: 'base64', data: 'AAAA', media_type: 'application/pdf', file_id: 'f' } }),
  ],
  ['chat', 'messages[0].content[0].file.file_id', says({ type: 'file', file: { file_data: pdf, file_id: 'file-1' } })],
])('%s rejects %s because it references data stored at a provider', async (dialect, param, fields) => {
  const { status, body } = await world.refused(request[dialect], bodies[dialect](fields))
  expect([status, body.error.param]).toEqual([400, param])
  expect(world.providers.requests).toEqual([])
  expect(world.purse.held).toBe(0)
})

test.each<[keyof typeof bodies, string, object]>([
  ['responses', 'ig_of_others', { input: [{ type: 'image_generation_call', id: 'ig_of_others' }, user] }],
  ['responses', 'rs_of_others', { input: [{ type: 'reasoning', id: 'rs_of_others', summary: [] }, user] }],
  ['responses', 'web_search', { tools: [{ type: 'web_search' }] }],
  ['responses', 'server_url', { tools: [{ type: 'mcp', server_url: 'https://x' }] }],
  ['responses', 'priority', { service_tier: 'priority' }],
  ['responses', 'web_search', { tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] }],
  ['responses', 'tool_search', { tools: [{ type: 'tool_search' }] }],
  ['responses', 'compaction', { context_management: [{ type: 'compaction', compact_threshold: 1000 }] }],
  ['responses', 'file_search_call.results', { include: ['file_search_call.results'] }],
  ['responses', 'a_field_of_tomorrow', { a_field_of_tomorrow: { a: 1 } }],
  ['responses', 'a_field_of_tomorrow', inputs({ type: 'input_text', text: 'x', a_field_of_tomorrow: { a: 1 } })],
  [
    'messages',
    'huge.pdf',
    says(text, { type: 'future_document', source: { type: 'url', url: 'https://x.example/huge.pdf' } }),
  ],
  [
    'messages',
    'huge.pdf',
    says({
      type: 'document',
      source: { type: 'base64', data: 'AAAA', media_type: 'application/pdf', url: 'https://huge.pdf' },
    }),
  ],
  ['messages', 'evilmcp', { mcp_servers: [{ type: 'url', url: 'https://evilmcp' }] }],
  ['messages', '"speed"', { speed: 'fast' }],
  ['messages', 'web_search', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }],
  ['messages', 'code_execution', { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] }],
  ['messages', 'tool_search_tool', { tools: [{ type: 'tool_search_tool_regex_20251119', name: 'x' }] }],
  ['messages', 'claude-opus', { fallbacks: [{ model: 'claude-opus-4-6' }] }],
  ['messages', 'context_management', { context_management: { edits: [] } }],
  ['messages', 'a_field_of_tomorrow', says({ ...text, a_field_of_tomorrow: { a: 1 } })],
  ['chat', 'best_of', { best_of: 20 }],
  ['chat', 'web_search_options', { web_search_options: {} }],
  ['chat', '$web_search', { tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }],
  ['chat', 'other-model', { models: ['other-model'] }],
  ['chat', 'other-model', { extra_body: { model: 'other-model' } }],
  ['chat', '"store"', { store: true }],
  ['chat', 'a_field_of_tomorrow', { messages: [{ ...user, a_field_of_tomorrow: { a: 1 } }] }],
])('%s drops %s and warns', async (dialect, word, fields) => {
  const { headers } = await world.ask(request[dialect], bodies[dialect](fields))
  expect(JSON.stringify(world.sent())).not.toContain(word)
  expect(headers['x-steward-warnings']).toContain('ignored')
})

test.each<[keyof typeof bodies, object]>([
  ['chat', { logit_bias: { 50: 1 }, messages: [{ ...user, name: 'ada' }], thinking: { type: 'disabled' } }],
  [
    'messages',
    {
      system: [{ ...text, cache_control: { type: 'ephemeral' } }],
      tools: [
        { type: 'bash_20250124', name: 'bash' },
        { name: 'f', input_schema: { type: 'object', properties: { file_id: { type: 'string' } } } },
      ],
    },
  ],
  [
    'responses',
    {
      client_metadata: { file_id: 'of the caller' },
      tools: [
        { type: 'function', name: 'f', parameters: { type: 'object', properties: { container: {} } }, strict: false },
        { type: 'shell', environment: { type: 'local' } },
        { type: 'custom', name: 'c', format: { type: 'text' } },
      ],
    },
  ],
])('%s passes fields of the same dialect without a warning', async (dialect, fields) => {
  const { headers } = await world.ask(request[dialect], bodies[dialect](fields))
  expect(world.sent()).toMatchObject(fields)
  expect(headers).not.toHaveProperty('x-steward-warnings')
})

test('rejects Messages threads for every model with a helpful error', async () => {
  for (const model of ['claude-sonnet-4.5', 'gpt-5.2', 'gemini-2.5-pro']) {
    const { error } = await world.refused(
      { ...request.messages, model },
      bodies.messages({ thread: { type: 'create' } }),
    )
    expect([error.status, error.message]).toEqual([
      400,
      "Steward stores no conversations: send the whole conversation (in Anthropic's SDK: `thread: false`).",
    ])
  }
  await world.ask(request.messages, bodies.messages({ thread: false }))
  expect(world.sent()).not.toHaveProperty('thread')
})

test('passes allow-listed betas and names the removed ones', () => {
  expect(filterBetas('context-1m-2025-08-07, interleaved-thinking-2025-05-14,files-api-2025-04-14')).toEqual({
    betas: 'interleaved-thinking-2025-05-14',
    removed: ['anthropic-beta context-1m-2025-08-07 ignored', 'anthropic-beta files-api-2025-04-14 ignored'],
  })
  expect(filterBetas(undefined)).toEqual({ betas: undefined, removed: [] })
})
