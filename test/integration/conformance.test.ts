import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { startMcpAuthProxy } from '../support/clients/mcpAuthProxy.ts'
import { toolClient } from '../support/clients/mcpClients.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { projectFolder } from '../support/fixtures/testProject.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'
import { runTool } from '../support/processes/runTool.ts'

/**
 * Official conformance suite. Every scenario of a revision passes, or is listed in `test/support/conformance` with the
 * reason why it does not apply. Other failures fail the test, and so do listed scenarios that pass.
 */
let service: TestService
let agent: RunningAgent
let url: string

beforeAll(async () => {
  service = await runningService()
  agent = await createRunningAgent({
    dataFolder: temporaryFolder('agent'),
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await eventually(() => expect(agent.connection().state).toBe('connected'))
  url = await startMcpAuthProxy({ origin: agent.origin, key: (await toolClient(agent)).key })
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

describe.each(['2025-11-25', '2026-07-28'])('revision %s', (revision) => {
  const file = join(projectFolder, 'test/support/conformance', `${revision}.yml`)

  test('passes every applicable conformance test', { timeout: 200_000 }, async () => {
    const { exitCode, stdout, stderr } = await runTool(temporaryFolder('conformance'), 'conformance', [
      ...['server', '--url', url, '--suite', 'all', '--spec-version', revision, '--expected-failures', file],
    ])
    const summary = stdout.slice(stdout.indexOf('=== SUMMARY'))
    expect([exitCode, `${summary}\n${stderr}`]).toEqual([0, expect.stringContaining('✓ tools-list')])
  })

  test('gives a reason for every expected failure', () => expectReasons(file))
})

describe.each(['2025-11-25', '2026-07-28'])('revision %s, as the client of tool servers,', (revision) => {
  const file = join(projectFolder, 'test/support/conformance', `client-${revision}.yml`)
  const program = join(projectFolder, 'test/support/conformance/client.ts')

  test('passes every applicable conformance test', { timeout: 200_000 }, async () => {
    const { exitCode, stdout, stderr } = await runTool(temporaryFolder('conformance'), 'conformance', [
      ...['client', '--command', `${process.execPath} ${program}`, '--suite', 'all'],
      ...['--spec-version', revision, '--expected-failures', file],
    ])
    const summary = stdout.slice(stdout.indexOf('=== SUITE SUMMARY'))
    expect([exitCode, `${summary}\n${stderr}`]).toEqual([0, expect.stringContaining('✓ tools_call')])
  })

  test('gives a reason for every expected failure', () => expectReasons(file))
})

function expectReasons(file: string): void {
  const named = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('  - '))
  expect(named.length).toBeGreaterThan(0)
  expect(named.filter((line) => !/^ {2}- [a-z0-9/-]+ # .{8,}$/.test(line))).toEqual([])
}
