import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DataLock, lockData } from '#platform/files/dataLock.ts'
import { toolTable } from '#shared/contract/tools/toolTable.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { inspector } from '../support/clients/inspector.ts'
import { toolClient } from '../support/clients/mcpClients.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/**
 * The command line of the Inspector, a third-party client, lists and calls tools. Over stdio it calls one tool of each
 * group, or every tool with `STEWARD_EVERY_TOOL=1`.
 */
let service: TestService
let agent: RunningAgent
let lock: DataLock
let http: string[]
let stdio: string[]
let home: Record<string, string>

beforeAll(async () => {
  service = await runningService()
  const dataFolder = temporaryFolder('agent')
  // The application has the lock, so `steward-mcp` joins it.
  lock = await lockData({ folder: dataFolder, name: 'steward.lock', program: 'Steward' })
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
  // Read tools are executed and the others only validated. Their effects are tested in everyTool.test.ts.
  const { key } = await toolClient(agent, { dry_run: true })
  http = [`${agent.origin}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${key}`]
  stdio = [
    process.execPath,
    join(projectFolder, 'scripts/mcp.js'),
    '--data',
    dataFolder,
    '-e',
    `STEWARD_MCP_KEY=${key}`,
  ]
  home = { HOME: temporaryFolder('home') }
})
afterAll(async () => {
  await agent?.close()
  await lock?.release()
  await service?.close()
})

const inputs: Record<string, string> = {
  ...{ sandbox_id: 'none', session_id: 'none', path: '/root/a', content: 'x', command: 'ls', input: 'x', port: '80' },
  ...{ domain: 'never-mine.example', domains: 'a.example', query: 'atlas', record_id: 'rec1', enabled: 'false' },
  ...{ type: 'A', host: '@', value: '192.0.2.1', nameservers: '["ns1.example.net","ns2.example.net"]' },
  ...{ url: 'https://127.0.0.1:1/', amount_usd: '5', name: 'Ada', model: 'none', id: 'call_none', code: 'none' },
  ...{ cols: '80', rows: '24', messages: '[{"role":"user","content":"x"}]', signal: 'SIGINT' },
}

test.each(['http', 'stdio'] as const)('lists and calls tools over %s', { timeout: 200_000 }, async (transport) => {
  const to = transport === 'http' ? http : stdio
  const all = toolTable.filter(({ group }) => group !== 'code')
  // Each call starts `steward-mcp` again, which takes half a second, so only one tool of each group is called by
  // default.
  const isFirst = ({ group }: (typeof all)[number], index: number) =>
    all.findIndex((it) => it.group === group) === index
  const tools = transport === 'http' || process.env.STEWARD_EVERY_TOOL === '1' ? all : all.filter(isFirst)
  const calls = tools.map(({ name, input }) => [
    ...[...to, '--method', 'tools/call', '--tool-name', name],
    ...Object.entries(input.shape)
      .filter(([, schema]) => !schema.safeParse(undefined).success)
      .flatMap(([argument]) => ['--tool-arg', `${argument}=${inputs[argument]}`]),
  ])
  const [listed, ...answers] = await inspector([[...to, '--method', 'tools/list'], ...calls], home)
  expect(
    listed?.printed.tools?.map(({ name }: { name: string }) => name),
    listed?.failure,
  ).toEqual(toolTable.map(({ name }) => name))
  for (const [index, { name, effect }] of tools.entries()) {
    const { printed, failure: error } = answers[index] ?? {}
    const text = JSON.stringify([name, printed, error])
    expect(printed?.content?.[0]?.text, text).toMatch(/./)
    expect(text).not.toContain('arguments are not valid')
    if (effect !== 'read') expect(text).toMatch(/Dry run|not found|There is no/)
  }
})
