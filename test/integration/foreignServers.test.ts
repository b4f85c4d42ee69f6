import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ToolOutcome } from '#agent/tools/toolOutcome.ts'
import type { ToolServer } from '#shared/contract/toolServers.ts'
import { chatCaller, toolClient } from '../support/clients/mcpClients.ts'
import { sendSecurePrompt } from '../support/clients/securePromptForms.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { everythingServer, filesystemServer } from '../support/processes/referenceToolServers.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Third-party servers, and programs in sandboxes, behind the executor that the chat uses. */
let service: TestService
let agent: RunningAgent
let sandboxId: string

beforeAll(async () => {
  service = await runningService()
  const target = { url: service.url, key: service.key, certificate: undefined }
  agent = await createRunningAgent({ dataFolder: temporaryFolder('foreign-servers'), target })
  const sandbox = await service.send('/v1/sandboxes', { body: { name: 'tools', network: 'none' } })
  expect(sandbox.status, sandbox.text).toBe(201)
  sandboxId = sandbox.json.id
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

const upload = async (path: string, content: string): Promise<void> => {
  const { status, text } = await service.send(`/v1/sandboxes/${sandboxId}/files/upload/json`, {
    body: { path, content },
  })
  expect(status, text).toBeLessThan(300)
}
const addServer = async (name: string, transport: object, settings: object = {}): Promise<ToolServer> => {
  const { status, json, text } = await agent.send('/local/tool-servers', {
    body: { name, place: transport, ...settings },
  })
  expect(status, text).toBe(201)
  return json
}
const testServer = async (id: string): Promise<ToolServer> =>
  (await agent.send(`/local/tool-servers/${id}/test`, { body: {} })).json
/** Enables the server and all of its tools, which run without approval. */
const turnOn = async (id: string): Promise<ToolServer> => {
  const { tools, fault } = await testServer(id)
  expect(fault).toBeNull()
  await agent.send(`/local/tool-servers/${id}`, { method: 'PATCH', body: { enabled: true } })
  const usable = tools.filter(({ alias }) => alias !== null)
  const body = { tools: usable.map(({ name, digest }) => ({ name, digest, enabled: true, ask: false })) }
  return (await agent.send(`/local/tool-servers/${id}/tools`, { method: 'PUT', body })).json
}
const inSandbox = (command: string) => ({ kind: 'sandbox', sandbox_id: sandboxId, command })
const run = async (name: string, args: object, ...servers: string[]): Promise<ToolOutcome> => {
  const caller = await chatCaller(agent, { servers })
  return agent.tools.runTool(name, args, { caller, signal: new AbortController().signal })
}

describe('a third-party tool server', () => {
  test('runs in a sandbox without a network and reads and writes files there', async () => {
    await upload('/root/server.mjs', await filesystemServer())
    const { id } = await addServer('files', inSandbox('node /root/server.mjs /root'))
    const { tools, server_name, protocol_version } = await turnOn(id)
    expect({ server_name, protocol_version }).toMatchObject({
      server_name: expect.stringContaining('filesystem'),
      protocol_version: '2025-11-25',
    })
    expect(tools.map(({ fault }) => fault).filter((it) => it !== null)).toEqual([])
    expect(tools.map(({ alias }) => alias)).toContain('files__write_file')
    const text = `häll\u00f6 🙂 ${'x'.repeat(300_000)}`
    expect(await run('files__write_file', { path: '/root/a.txt', content: text }, id)).toMatchObject({ kind: 'result' })
    const { json } = await service.send(`/v1/sandboxes/${sandboxId}/files/read?path=/root/a.txt`)
    expect(json.content).toBe(text)
    const [first, two, out] = await Promise.all([
      run('files__read_text_file', { path: '/root/a.txt' }, id),
      run('files__list_directory', { path: '/root' }, id),
      run('files__read_text_file', { path: '/etc/passwd' }, id),
    ])
    // 300,000 characters exceed the stored size of a result.
    expect(first).toMatchObject({ kind: 'result', text: expect.stringMatching(/^häll\u00f6 🙂 x+ \[… cut\]$/u) })
    expect(two).toMatchObject({ kind: 'result', text: expect.stringContaining('[FILE] a.txt') })
    expect(out).toMatchObject({ kind: 'error', sentence: expect.stringContaining('denied') })
    await agent.send(`/local/tool-servers/${id}`, { method: 'DELETE' })
    const { sessions } = (await service.send(`/v1/sandboxes/${sandboxId}/pty`)).json
    expect(sessions).toEqual([])
  })

  test('works over HTTP with every feature of the protocol', async () => {
    const everything = await everythingServer()
    try {
      const { id } = await addServer('everything', { kind: 'http', url: everything.url })
      const { tools, fault } = await turnOn(id)
      expect(fault).toBeNull()
      expect(tools.length).toBeGreaterThan(8)
      expect(await run('everything__echo', { message: 'hi' }, id)).toMatchObject({
        text: expect.stringContaining('hi'),
      })
      const names = tools.map(({ name }) => name)
      expect(names).toContain('get-tiny-image')
      const image = await run('everything__get-tiny-image', {}, id)
      expect(image).toMatchObject({ kind: 'result', text: expect.stringContaining('omitted') })
      const slow = await run('everything__trigger-long-running-operation', { duration: 1, steps: 4 }, id)
      expect(slow).toMatchObject({ kind: 'result' })
      // Tools that elicit or sample are either not listed for clients without these capabilities, or refuse.
      for (const asking of names.filter((it) => /elicit|sampling|roots/.test(it))) {
        expect(['error', 'result']).toContain((await run(`everything__${asking}`, {}, id)).kind)
      }
      expect((await agent.send('/local/intents?state=waiting')).json.intents).toEqual([])
    } finally {
      await everything.close()
    }
  })

  test('speaks protocol version 2026-07-28', async () => {
    const { key } = await toolClient(agent)
    const { id } = await addServer(
      'itself',
      { kind: 'http', url: `${agent.origin}/mcp` },
      { secret_names: ['Authorization'] },
    )
    const body = { purpose: 'tool_server_secret', tool_server_id: id, secret_name: 'Authorization' }
    await sendSecurePrompt({ origin: agent.origin, session: agent.session, body, fields: { api_key: `Bearer ${key}` } })
    const { protocol_version, tools } = await turnOn(id)
    expect(protocol_version).toBe('2026-07-28')
    expect(tools.length).toBeGreaterThan(40)
    expect(tools.map(({ fault }) => fault).filter((it) => it !== null)).toEqual([])
    expect(await run('itself__credits_balance', {}, id)).toMatchObject({
      kind: 'result',
      text: expect.stringContaining('balance'),
    })
  })
})

describe('a tool server program in a sandbox', () => {
  /** Answers as a server of protocol version 2025-11-25; `body` is what it does on a call. */
  const program = (body: string, early = '') => `
    import { createInterface } from 'node:readline'
    const say = (it) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...it }) + '\\n')
    ${early}
    createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line)
      if (method === 'initialize') return say({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } } })
      if (method === 'tools/list') return say({ id, result: { tools: [{ name: 'go', inputSchema: { type: 'object' } }] } })
      if (method !== 'tools/call') return id !== undefined && say({ id, error: { code: -32601, message: 'no' } })
      const answer = (text) => say({ id, result: { content: [{ type: 'text', text }] } })
      ${body}
    })`
  const odd = async (name: string, body: string, early?: string): Promise<string> => {
    await upload(`/root/${name}.mjs`, program(body, early))
    const { id } = await addServer(name, inSandbox(`node /root/${name}.mjs`))
    await turnOn(id)
    return id
  }

  test('gets pipes instead of a terminal and may print text outside the protocol', async () => {
    const id = await odd(
      'pipes',
      'answer(JSON.stringify([process.stdin.isTTY ?? false, process.stdout.isTTY ?? false, process.argv.length]))',
      `console.log('Welcome! \\u001b[6n\\u001b[c not JSON {'); console.error('noise')`,
    )
    expect(await run('pipes__go', {}, id)).toMatchObject({ text: '[false,false,2]' })
  })

  test('receives its secrets as environment variables', async () => {
    await upload('/root/env.mjs', program(`answer(process.env.API_TOKEN ?? 'none')`))
    const { id } = await addServer('env', inSandbox('node /root/env.mjs'), { secret_names: ['API_TOKEN'] })
    const body = { purpose: 'tool_server_secret', tool_server_id: id, secret_name: 'API_TOKEN' }
    await sendSecurePrompt({ origin: agent.origin, session: agent.session, body, fields: { api_key: 'tok-123' } })
    await turnOn(id)
    expect(await run('env__go', {}, id)).toMatchObject({ text: 'tok-123' })
  })

  test('is cut off after an oversized message and restarts for the next call', async () => {
    const id = await odd(
      'loud',
      `if (params.arguments.loud) { process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":"'); const more = () => process.stdout.write('x'.repeat(65536), more); more() } else answer('Quiet.')`,
    )
    expect(await run('loud__go', { loud: true }, id)).toMatchObject({
      kind: 'error',
      sentence: expect.stringContaining('large'),
    })
    expect(await run('loud__go', {}, id)).toMatchObject({ text: 'Quiet.' })
  })

  test('is cut off if it floods with notifications', async () => {
    const id = await odd(
      'flood',
      `const notice = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' }) + '\\n'; const more = () => process.stdout.write(notice.repeat(100), more); more()`,
    )
    expect(await run('flood__go', {}, id)).toMatchObject({
      kind: 'error',
      sentence: expect.stringContaining('more output than Steward reads'),
    })
  })

  test('has its last output reported and is not restarted after repeated exits', async () => {
    const id = await odd('dying', `console.error('boom \\u001b[31mhere'); process.exit(3)`)
    const first = await run('dying__go', {}, id)
    expect(first).toMatchObject({ kind: 'error', sentence: 'The program exited. Error output: boom here' })
    let last = first
    for (let attempt = 0; attempt < 6; attempt += 1) last = await run('dying__go', {}, id)
    expect(last).toMatchObject({ kind: 'error', sentence: expect.stringContaining('keeps exiting') })
  })

  test('reports the reason if it does not exist', async () => {
    const { id } = await addServer('none', inSandbox('/no/such/program --flag'))
    expect((await testServer(id)).fault).toContain('No such file')
  })

  test('ends with its sandbox and returns an error', async () => {
    const id = await odd('ends', 'answer("On.")')
    expect(await run('ends__go', {}, id)).toMatchObject({ text: 'On.' })
    await service.send(`/v1/sandboxes/${sandboxId}/stop`, { method: 'POST', body: {} })
    expect(await run('ends__go', {}, id)).toMatchObject({ kind: 'error' })
    await service.send(`/v1/sandboxes/${sandboxId}/start`, { method: 'POST', body: {} })
    expect(await run('ends__go', {}, id)).toMatchObject({ text: 'On.' })
  })
})
