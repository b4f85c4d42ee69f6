import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../support/assertions/eventually.ts'
import { findMessage, openSocket, type SocketClient } from '../support/clients/socketClient.ts'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Requests of a workbench with many terminals: names, marks and a search across all of them. */
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

async function startTerminal(command: string, sandboxPath = sandbox): Promise<string> {
  const { status, json, text } = await service.send(`${sandboxPath}/pty`, { body: { command } })
  expect(status, text).toBe(201)
  return `${sandboxPath}/pty/${json.session_id}`
}

const getId = (terminal: string) => terminal.split('/').at(-1)

async function events(): Promise<SocketClient> {
  const socket = await openSocket(`${service.url}/v1/events`, { headers: { authorization: `Bearer ${service.key}` } })
  opened.push(socket)
  await findMessage(socket, { type: 'ready' })
  return socket
}

describe('a name', () => {
  const rename = (terminal: string, body: unknown) => service.send(terminal, { method: 'PATCH', body })

  test('belongs to the terminal, is visible to all and remains after the program exits', async () => {
    const terminal = await startTerminal('read _; exit 0')
    const watching = await events()
    expect((await rename(terminal, { name: '  the build ' })).json).toMatchObject({ name: 'the build', title: null })
    await until('the event', () =>
      watching.messages.some((message) => (message.terminal as { name?: string } | undefined)?.name === 'the build'),
    )
    await service.send(`${terminal}/write`, { body: { input: '\n' } })
    const ended = await until('the exit', async () => {
      const { json } = await service.send(`${sandbox}/pty?all=true`)
      return json.sessions.find(
        (session: { session_id: string; state: string }) =>
          session.session_id === getId(terminal) && session.state === 'exited',
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

describe('the search', () => {
  type Match = { sandbox_id: string; session_id: string; row: number; text: string; start: number; end: number }
  const search = async (query: string) => (await service.send(`/v1/terminals/search?${query}`)).json
  const found = async (query: string): Promise<Match[]> => (await search(query)).matches

  test('finds text in every running or ended terminal of the caller only', async () => {
    const otherSandbox = await createSandbox('other')
    const running = await startTerminal('seq 1 100; echo needle-in-hay; cat')
    const ended = await startTerminal('echo a Needle; exit 0', otherSandbox)
    const matches = await until('both', async () => {
      const all = await found('q=needle')
      return all.length === 2 && all
    })
    expect(matches.map(({ session_id }) => session_id).sort()).toEqual([getId(running), getId(ended)].sort())
    const inRunning = matches.find(({ session_id }) => session_id === getId(running))
    expect(inRunning).toMatchObject({
      sandbox_id: sandbox.split('/').at(-1),
      row: 100,
      text: 'needle-in-hay',
      start: 0,
      end: 6,
    })
    expect(await found('q=needle&case_sensitive=true')).toHaveLength(1)
    expect(await found('q=N%5Be-%5D%2Bdle%24&regex=true')).toHaveLength(1)
    expect(await search('q=nobody-wrote-this')).toMatchObject({ matches: [], truncated: false })
    expect(await search('q=%5E%5Cd%2B%24&regex=true&limit=10')).toMatchObject({ truncated: true })
    expect(await found('q=%5E%5Cd%2B%24&regex=true&limit=10')).toHaveLength(10)
    const { key } = secondAccount(service.dataDir)
    const foreign = await service.send('/v1/terminals/search?q=needle', { key })
    expect(foreign.json).toEqual({ matches: [], truncated: false, searched: 0 })
    await service.send(otherSandbox, { method: 'DELETE' })
    await service.send(running, { method: 'DELETE' })
  })

  test.each([
    ['', '`q` is required.'],
    ['q=', '`q` must not be empty.'],
    ['q=(&regex=true', '`q` must be a regular expression: /(/gi: Unterminated group.'],
    ['q=x&limit=0', '`limit` must be a whole number from 1 to 2000.'],
    ['q=x&regex=maybe', '`regex` must be true or false.'],
  ])('rejects the query ?%s', async (query, error) => {
    const answer = await service.send(`/v1/terminals/search?${query}`)
    expect(answer.status).toBe(400)
    expect(answer.json).toMatchObject({ error, code: 'request/invalid' })
  })

  test('aborts an expression that would never finish without blocking other terminals', async () => {
    const terminal = await startTerminal(`printf 'a%.0s' $(seq 1 70); echo b; cat`)
    await until('the line', async () => (await found('q=aaab')).length === 1)
    const answer = await service.send(`/v1/terminals/search?q=${encodeURIComponent('^(a+)+$')}&regex=true`)
    expect(answer.status).toBe(400)
    expect(answer.json.error).toBe('`q` takes too long to match. Simplify the expression ^(a+)+$.')
    expect((await service.send(`${terminal}/read`)).json.output).toContain('aaab')
  })
})

test('output and bells are reported as they occur without the printed text', async () => {
  const watching = await events()
  const terminal = await startTerminal(`read _; echo secret-word; read _; printf '\\a'; cat`)
  const type = (input: string) => service.send(`${terminal}/write`, { body: { input } })
  await type('\n')
  const session_id = getId(terminal)
  await findMessage(watching, { type: 'terminal.output', session_id, bell: false })
  await type('\n')
  await findMessage(watching, { type: 'terminal.output', session_id, bell: true })
  const outputEvents = watching.messages.filter(({ type }) => type === 'terminal.output')
  expect(JSON.stringify(outputEvents)).not.toContain('secret-word')
  await service.send(terminal, { method: 'DELETE' })
})
