import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/eventually.ts'
import { runningService, type TestService } from '../support/runningService.ts'
import { messageOf, openSocket, type SocketClient } from '../support/socketClient.ts'

/** What a workbench of many terminals asks of the service: names of its own, marks, and a search through all of them. */
let service: TestService
let sandbox: string
let opened: SocketClient[] = []

beforeAll(async () => {
  service = await runningService()
  sandbox = await createSandbox('workbench')
})
afterAll(() => service?.close())
beforeEach(() => () => {
  for (const socket of opened) socket.close()
  opened = []
})

async function createSandbox(name: string): Promise<string> {
  const { status, json, text } = await service.send('/v1/sandboxes', { body: { name } })
  expect(status, text).toBe(201)
  return `/v1/sandboxes/${json.id}`
}

async function startTerminal(command: string, at = sandbox): Promise<string> {
  const { status, json, text } = await service.send(`${at}/pty`, { body: { command } })
  expect(status, text).toBe(201)
  return `${at}/pty/${json.session_id}`
}

const idOf = (terminal: string) => terminal.split('/').at(-1)

async function events(): Promise<SocketClient> {
  const socket = await openSocket(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${service.key}` } })
  opened.push(socket)
  await messageOf(socket, { type: 'ready' })
  return socket
}

describe('a name', () => {
  const rename = (terminal: string, body: unknown) => service.send(terminal, { method: 'PATCH', body })

  test('belongs to the terminal: everyone sees it, and it stays when the program has ended', async () => {
    const terminal = await startTerminal('read _; exit 0')
    const watching = await events()
    expect((await rename(terminal, { name: '  the build ' })).json).toMatchObject({ name: 'the build', title: null })
    await until('the event', () =>
      watching.messages.some((it) => (it.terminal as { name?: string } | undefined)?.name === 'the build'),
    )
    await service.send(`${terminal}/write`, { body: { input: '\n' } })
    const ended = await until('the exit', async () => {
      const { json } = await service.send(`${sandbox}/pty?all=true`)
      return json.sessions.find(
        (it: { session_id: string; state: string }) => it.session_id === idOf(terminal) && it.state === 'exited',
      )
    })
    expect(ended.name).toBe('the build')
    expect((await rename(terminal, { name: null })).json).toMatchObject({ name: null, state: 'exited' })
  })

  test.each([
    [{ name: '' }, '`name` must not be empty; null takes the name away.'],
    [{ name: 'x'.repeat(65) }, '`name` must have at most 64 characters.'],
    [{ name: 'two\nlines' }, '`name` must be visible characters on one line, or null.'],
    [{ name: 7 }, '`name` must be visible characters on one line, or null.'],
    [{}, '`name` is required.'],
  ])('%j is refused', async (body, error) => {
    const terminal = await startTerminal('cat')
    const answer = await rename(terminal, body)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error, code: 'request/invalid' })
    await service.send(terminal, { method: 'DELETE' })
  })
})
