import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { createMcpClient, type McpClient, toolClient } from '../support/clients/mcpClients.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { type Json, runningService, type TestService } from '../support/processes/runningService.ts'

/** Attempts of a program with the profile `code` in a real sandbox. It has exactly the permissions of its client. */
let service: TestService
let agent: RunningAgent
const clients: McpClient[] = []

beforeAll(async () => {
  service = await runningService()
  const target = { url: service.url, key: service.key, certificate: undefined }
  agent = await createRunningAgent({ dataFolder: temporaryFolder('agent'), target })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
})
afterAll(async () => {
  for (const { client } of clients) await client.close()
  await agent?.close()
  await service?.close()
})

async function programs(
  options: object = {},
): Promise<McpClient & { run(code: string): ReturnType<McpClient['call']> }> {
  const { key } = await toolClient(agent, { profile: 'code', ...options })
  const opened = await createMcpClient({ url: `${agent.origin}/mcp`, key })
  clients.push(opened)
  return { ...opened, run: (code) => opened.call('operations_run', { code }) }
}
const sandboxes = async (): Promise<Json[]> => (await service.send('/v1/sandboxes')).json.sandboxes

test('cannot start a nested program or call invalid tool names', async () => {
  const { run } = await programs()
  const { result } = await run(`const calls = [['operations_run', { code: '1' }], ['operations_search', { query: '' }],
      ...['__proto__', 'constructor', 'toString', '', 'a'.repeat(9000)].map((name) => [name, {}])]
    const refused = calls.map(([name, given]) => steward[name](given).then(() => 'done', (failure) => failure.message.slice(0, 99)))
    export default await Promise.all(refused)`)
  expect(result.value).toHaveLength(7)
  for (const said of result.value.slice(0, 2)) expect(said).toContain('profile')
  for (const said of result.value.slice(2)) expect(said).toMatch(/^There is no tool/)
})

test('follows the client policy: deletions wait and a dry run does nothing', async () => {
  const { json: unrelated } = await service.send('/v1/sandboxes', { body: { name: 'kept' } })
  const deletes = `export default await steward.sandbox_delete({ sandbox_id: '${unrelated.id}' }).catch((failure) => failure.message)`
  const { run } = await programs({ name: 'asks' })
  const running = run(deletes)
  const intent = await until('it asks', async () => {
    const { intents } = (await agent.send('/local/intents?state=waiting')).json
    return intents[0]
  })
  expect(intent).toMatchObject({ kind: 'tool.call', requester: { name: 'asks' } })
  await agent.send(`/local/intents/${intent.id}/decision`, { body: { approve: false } })
  expect((await running).result.value).toContain('denied')

  const dry = await programs({ dry_run: true })
  expect((await dry.run(deletes)).text).toContain('Dry run')
  const forbidden = await programs({ policy: { changes: 'deny', destroys: 'deny' } })
  expect((await forbidden.run(deletes)).text).toContain('not allowed to call operations_run')
  expect((await sandboxes()).map(({ id }) => id)).toEqual([unrelated.id])
  await service.send(`/v1/sandboxes/${unrelated.id}`, { method: 'DELETE' })
})

test('in a shared sandbox has the authority of that sandbox only', async () => {
  const [ownSandbox, otherSandbox] = await Promise.all(
    ['dirty', 'victim'].map(async (name) => (await service.send('/v1/sandboxes', { body: { name } })).json.id),
  )
  const precious = { path: '/root/precious', content: 'still here' }
  await service.send(`/v1/sandboxes/${otherSandbox}/files/upload/json`, { body: precious })
  const overwrite = { sandbox_id: otherSandbox, command: 'echo OWNED > /root/precious' }
  const { call } = await programs({ name: 'confined', policy: { changes: 'allow', destroys: 'allow' } })
  const { result } = await call('operations_run', {
    sandbox_id: ownSandbox,
    code: `const said = (call) => call.then((it) => it, (failure) => failure.message)
      export default {
        own: (await steward.sandbox_exec({ sandbox_id: '${ownSandbox}', command: 'echo hi' })).stdout,
        open: (await steward.domain_pricing({ tlds: 'com' })).pricing.length,
        other: said(steward.sandbox_exec(${JSON.stringify(overwrite)})) && 'asked',
      }`,
  })
  expect(result.value).toEqual({ own: 'hi\n', open: 1, other: 'asked' })
  const intent = await until('it asks', async () => {
    const { intents } = (await agent.send('/local/intents?state=waiting')).json
    return intents.find(({ requester }: Json) => requester.name === 'confined')
  })
  expect(intent.sentence).toContain(
    `a program in the sandbox ${ownSandbox.slice(0, 8)} call sandbox_exec for ${otherSandbox}`,
  )
  await agent.send(`/local/intents/${intent.id}/decision`, { body: { approve: false } })
  const read = await service.send(`/v1/sandboxes/${otherSandbox}/exec`, { body: { command: 'cat /root/precious' } })
  expect(read.json.stdout).not.toContain('OWNED')
  for (const id of [ownSandbox, otherSandbox]) await service.send(`/v1/sandboxes/${id}`, { method: 'DELETE' })
})

test('makes at most 200 calls and leaves no sandbox', async () => {
  const { run } = await programs()
  const calls = (count: number) => `let made = 0
    for (let at = 0; at < ${count}; at += 1) { await steward.credits_balance(); made += 1 }
    export default made`
  expect((await run(calls(200))).result).toMatchObject({ value: 200, calls: 200 })
  expect((await run(calls(201))).text).toContain('more than 200 calls')
  expect(await sandboxes()).toEqual([])
})

test('finds no key, and its output is truncated and grants no authority', async () => {
  const { run } = await programs()
  const { result } = await run(`import { readFileSync, readdirSync } from 'node:fs'
    const [folder] = readdirSync('/tmp').filter((it) => it.startsWith('steward-'))
    const mark = JSON.parse(/mark = (".*")/.exec(readFileSync('/tmp/' + folder + '/main.mjs', 'utf8'))[1])
    process.stdout.write(mark + 'no json\\n' + mark + '[]\\n' + mark + '{"call":{},"name":{"a":1}}\\n')
    process.stdout.write('x'.repeat(3_000_000) + '\\n')
    for (let at = 0; at < 20_000; at += 1) process.stdout.write('\\x1b[31mline ' + at + '\\n')
    export default Object.values(process.env).join(' ') + readFileSync('/proc/self/environ', 'utf8')`)
  expect(result.output.length).toBeLessThanOrEqual(64 * 1024)
  expect(result.calls).toBe(3)
  expect(result.value).not.toContain(service.key)
  expect(result.value).not.toMatch(/Bearer|sk_steward/)
})

test('that never finishes ends with its client and removes its sandbox', async () => {
  const { client } = await programs()
  const leaving = new AbortController()
  const pendingCall = client.callTool(
    { name: 'operations_run', arguments: { code: 'setInterval(() => {}, 1000); await new Promise(() => {})' } },
    { signal: leaving.signal },
  )
  await until('its sandbox is there', async () => (await sandboxes()).length === 1)
  leaving.abort()
  await expect(pendingCall).rejects.toThrow()
  await until('its sandbox is gone', async () => (await sandboxes()).length === 0)
})
