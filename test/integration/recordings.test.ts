import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually, until } from '../support/assertions/eventually.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createRunningAgent, type RunningAgent } from '../support/processes/runningAgent.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Terminal recordings by the agent, and the tasks that entries belong to. */
let service: TestService
let agent: RunningAgent
let dataFolder: string
let sandbox: string
let sandboxId: string

beforeAll(async () => {
  service = await runningService()
  dataFolder = temporaryFolder('agent')
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  const created = await service.send('/v1/sandboxes', { body: { name: 'recorded' } })
  expect(created.status, created.text).toBe(201)
  sandboxId = created.json.id
  sandbox = `/v1/sandboxes/${sandboxId}`
})
afterAll(async () => {
  await agent?.close()
  await service?.close()
})

const folder = () => join(dataFolder, 'recordings')
const settings = (body: object) => agent.send('/local/activity/settings', { method: 'PATCH', body })
const open = async (command: string): Promise<string> => {
  const { status, json, text } = await service.send(`${sandbox}/pty`, { body: { command } })
  expect(status, text).toBe(201)
  return json.session_id
}
const findRecording = async (terminal: string) =>
  (await agent.send(`/local/recordings?terminal_id=${terminal}`)).json.recordings[0]
const waitForEnd = (terminal: string) =>
  until('the recording to end', async () => {
    const recording = await findRecording(terminal)
    return recording && recording.state !== 'running' && recording
  })
const readCast = async (id: string) => {
  const { text } = await agent.send(`/local/recordings/${id}`)
  const [header, ...events] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { header, events, output: events.map(([, , data]: [number, string, string]) => data).join('') }
}

test('records nothing until the user enables it, and then no previously open terminal', async () => {
  const before = await open('sleep 60')
  await open('echo unseen')
  expect((await agent.send('/local/activity/settings')).json).toEqual({
    keep_entries_days: null,
    record_terminals: false,
    keep_recordings_days: 14,
  })
  expect((await settings({ record_terminals: true })).status).toBe(200)
  const after = await open('echo seen')
  await waitForEnd(after)
  expect(await findRecording(before)).toBeUndefined()
  expect((await agent.send('/local/recordings')).json.total).toBe(1)
  await service.send(`${sandbox}/pty/${before}`, { method: 'DELETE' })
})

test('records timestamped output as asciicast v2 in a file only the user can read', async () => {
  const terminal = await open(`printf 'first\\n'; read line; printf 'then %s ü\\n' "$line"; stty size; read end`)
  await until('the first line', async () => (await findRecording(terminal))?.bytes > 0)
  await service.send(`${sandbox}/pty/${terminal}/resize`, { body: { cols: 100, rows: 30 } })
  await service.send(`${sandbox}/pty/${terminal}/write`, { body: { input: 'typed\n' } })
  await until('the answer', async () => /30 100/.test(await readOutput(terminal)))
  await service.send(`${sandbox}/pty/${terminal}/write`, { body: { input: '\n' } })
  const { id, sandbox_name, duration_ms, missed, state } = await waitForEnd(terminal)
  expect({ sandbox_name, missed, state }).toEqual({ sandbox_name: 'recorded', missed: false, state: 'ended' })
  const { header, events, output } = await readCast(id)
  expect(header).toMatchObject({ version: 2, width: 80, height: 24, title: 'recorded' })
  expect(output).toMatch(/first\r\n(.*\r\n)*then typed ü\r\n30 100\r\n/)
  expect(events.some(([, code, data]: [number, string, string]) => code === 'r' && data === '100x30')).toBe(true)
  const times: number[] = events.map(([time]: [number]) => time)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  expect(duration_ms).toBeGreaterThanOrEqual(Math.floor((times.at(-1) ?? 0) * 1000) - 1)
  expect(statSync(join(folder(), `${id}.cast`)).mode & 0o777).toBe(0o600)
  expect(statSync(folder()).mode & 0o777).toBe(0o700)
  // The log links to the recording.
  await eventually(async () => {
    const { json } = await agent.send(`/local/activity?link=recording:${id}`)
    expect(json.entries).toMatchObject([
      { kind: 'terminal.recorded', links: { recording: id, terminal, sandbox: sandboxId }, problem: null },
    ])
  })
})

const readOutput = async (terminal: string) => {
  const recording = await findRecording(terminal)
  return recording ? readFileSync(join(folder(), `${recording.id}.cast`), 'utf8') : ''
}

test('does not record messages of tool servers, even after a restart', async () => {
  const terminals = async () => (await service.send(`${sandbox}/pty?all=true`)).json.sessions
  const before = (await terminals()).length
  const transport = { kind: 'sandbox', sandbox_id: sandboxId, command: 'echo private; sleep 60' }
  const server = await agent.send('/local/tool-servers', { body: { name: 'box', place: transport } })
  expect(server.status, server.text).toBe(201)
  await agent.send(`/local/tool-servers/${server.json.id}`, { method: 'PATCH', body: { enabled: true } })
  const tested = agent.send(`/local/tool-servers/${server.json.id}/test`, { body: {} })
  const terminal = await until('its terminal', async () => (await terminals())[before])
  await waitForEnd(await open('echo recorded'))
  expect(await findRecording(terminal.session_id)).toBeUndefined()
  await agent.send(`/local/tool-servers/${server.json.id}`, { method: 'DELETE' })
  await tested
  await agent.close()
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await waitForEnd(await open('echo recorded again'))
  expect(await findRecording(terminal.session_id)).toBeUndefined()
})

test('resumes after a restart without duplicating output', async () => {
  const terminal = await open('echo one; read line; echo two')
  await until('the first line', async () => /one/.test(await readOutput(terminal)))
  await agent.close()
  agent = await createRunningAgent({
    dataFolder,
    target: { url: service.url, key: service.key, certificate: undefined },
  })
  await service.send(`${sandbox}/pty/${terminal}/write`, { body: { input: '\n' } })
  const { output } = await readCast((await waitForEnd(terminal)).id)
  expect(output.match(/one/g)).toHaveLength(1)
  expect(output.match(/two/g)).toHaveLength(1)
})

test('records a flood up to the maximum size and writes nothing beyond it', async () => {
  const terminal = await open('yes 0123456789012345678901234567890123456789 | head -c 40000000')
  const { bytes, state } = await waitForEnd(terminal)
  expect(['cut', 'ended']).toContain(state)
  expect(bytes).toBeLessThanOrEqual(16 * 1024 * 1024)
})

test('deletes a recording permanently, even of a running terminal that is not recorded again', async () => {
  const terminal = await open('echo secret; read line; echo more; read line')
  await until('the first line', async () => /secret/.test(await readOutput(terminal)))
  const { id } = await findRecording(terminal)
  expect((await agent.send(`/local/recordings/${id}`, { method: 'DELETE' })).status).toBe(200)
  await service.send(`${sandbox}/pty/${terminal}/write`, { body: { input: '\n' } })
  const otherTerminal = await open('echo other')
  await waitForEnd(otherTerminal)
  expect(await findRecording(terminal)).toBeUndefined()
  expect(existsSync(join(folder(), `${id}.cast`))).toBe(false)
  expect((await agent.send(`/local/recordings/${id}`)).status).toBe(404)
  expect((await agent.send('/local/recordings', { method: 'DELETE' })).json.deleted).toBeGreaterThan(0)
  expect(readdirSync(folder())).toEqual([])
  await service.send(`${sandbox}/pty/${terminal}`, { method: 'DELETE' })
})

test('stops recording running terminals when turned off', async () => {
  const terminal = await open('echo one; read line; echo two; read line')
  await until('the first line', async () => /one/.test(await readOutput(terminal)))
  await settings({ record_terminals: false })
  await until('it to stop', async () => (await findRecording(terminal)).state === 'ended')
  await service.send(`${sandbox}/pty/${terminal}/write`, { body: { input: '\n' } })
  await settings({ record_terminals: true })
  await waitForEnd(await open('echo other'))
  expect(await readOutput(terminal)).not.toMatch(/two/)
  await service.send(`${sandbox}/pty/${terminal}`, { method: 'DELETE' })
})

test('allows only the user to read recordings', async () => {
  const key = (await service.send('/v1/auth/api-keys', { body: { name: 'a program' } })).json.key
  const headers = { authorization: `Bearer ${key}`, cookie: '' }
  for (const path of ['/local/recordings', '/local/activity/settings', '/local/activity/tasks/chat:msg_1']) {
    const answer = await fetch(`${agent.origin}${path}`, { headers })
    expect(answer.status, path).toBe(403)
  }
})

test('labels service actions with the task of the user and ignores task names from programs', async () => {
  const forged = { 'x-steward-task': 'chat:forged' }
  await agent.send(`${sandbox}/exec`, { body: { command: 'echo mine' }, headers: forged })
  const key = (await service.send('/v1/auth/api-keys', { body: { name: 'forger' } })).json.key
  const asProgram = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...forged }
  const body = JSON.stringify({ command: 'echo forged' })
  expect((await fetch(`${service.url}${sandbox}/exec`, { method: 'POST', headers: asProgram, body })).status).toBe(200)
  await eventually(async () => {
    const { json } = await agent.send('/local/activity?kinds=command')
    const tasks = Object.fromEntries(
      json.entries.map(({ detail, task }: { detail: { command: string }; task: string | null }) => [
        detail.command,
        task,
      ]),
    )
    expect(tasks).toMatchObject({ 'echo mine': expect.stringMatching(/^action:[0-9a-f]{32}$/), 'echo forged': null })
  })
  expect((await agent.send('/local/activity?task=chat:forged')).json.entries).toEqual([])
  expect((await agent.send('/local/activity/tasks/chat:forged')).status).toBe(404)
})
