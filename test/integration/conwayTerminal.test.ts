import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideAccountRequest, listAccountRequests } from '#shared/contract/accountRequests.ts'
import { until } from '../support/assertions/eventually.ts'
import { type ConwayTerminal, type ConwayTools, createConwayTerminal } from '../support/clients/conwayTerminal.ts'
import { openPersonSession } from '../support/clients/personSession.ts'
import { createPersonClient, type PersonClient } from '../support/clients/walletForms.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { exchange, type Json } from '../support/processes/runningService.ts'
import { type Steward, startSteward } from '../support/processes/steward.ts'

/**
 * A published client of this interface, unmodified. It gets a key from the program that `npm start` runs, and all of
 * its tools work.
 */
let steward: Steward
let person: PersonClient
let program: ConwayTerminal

beforeAll(async () => {
  steward = await startSteward()
  const { origin, hash } = new URL(steward.url)
  person = createPersonClient(origin, await openPersonSession(origin, hash.slice('#token='.length)))
  program = createConwayTerminal({ home: temporaryFolder('conway-home'), serviceUrl: steward.serviceUrl })
})
afterAll(() => steward?.close())

test('gets an API key by its wallet after the user allows the request', async () => {
  const refused = await program.provision().catch((error: { stderr: string }) => error.stderr)
  expect(refused).toContain('SIWE verification failed: 403')
  expect(refused).toContain('sign in again')

  const [request, ...others] = (await person.call(listAccountRequests, {})).requests
  if (!request) throw new Error('It asked for no account.')
  expect(others).toEqual([])
  await person.call(decideAccountRequest, { id: request.id, allow: true })

  const { apiKey, walletAddress, keyPrefix } = await program.provision()
  expect(walletAddress).toBe(request.wallet_address)
  expect(apiKey.startsWith(keyPrefix)).toBe(true)
  const me = await exchange(steward.serviceUrl, '/v1/auth/me', { key: apiKey })
  expect(me.json).toMatchObject({ wallet_address: walletAddress, role: 'user', api_key: { name: 'conway-terminal' } })
})

describe('its tools', () => {
  let tools: ConwayTools
  let sandbox_id: string
  const called = new Set<string>()

  const text = (name: string, input: Record<string, unknown> = {}): Promise<string> => {
    called.add(name)
    return tools.call(name, input)
  }
  const json = async (name: string, input: Record<string, unknown> = {}): Promise<Json> =>
    JSON.parse(await text(name, input))

  beforeAll(async () => {
    tools = await program.connect()
    const created = await json('sandbox_create', { name: 'from-outside', vcpu: 1, memory_mb: 512, disk_gb: 1 })
    expect(created).toMatchObject({
      name: 'from-outside',
      status: 'running',
      vcpu: 1,
      memory_mb: 512,
      region: 'eu-north',
    })
    expect(created.id).toMatch(/^[0-9a-f]{32}$/)
    sandbox_id = created.id
  })
  afterAll(() => tools?.close())

  test('list and show the sandbox', async () => {
    expect(await json('sandbox_list')).toMatchObject([{ id: sandbox_id, name: 'from-outside', disk_gb: 1 }])
    expect(await json('sandbox_get', { sandbox_id })).toMatchObject({ id: sandbox_id, status: 'running' })
  })

  test('run commands, and read and write files', async () => {
    const ran = await json('sandbox_exec', { sandbox_id, command: 'echo out; echo err >&2; exit 3', timeout: 20 })
    expect(ran).toEqual({ stdout: 'out\n', stderr: 'err\n', exit_code: 3, success: false })
    const path = '/root/note.txt'
    expect(await json('sandbox_write_file', { sandbox_id, path, content: 'grüße\n' })).toMatchObject({
      status: 'ok',
      path,
      size: 8,
    })
    expect(await text('sandbox_read_file', { sandbox_id, path })).toBe('grüße\n')
    const content = Buffer.from([0, 255, 7]).toString('base64')
    const bytes = await json('sandbox_write_file', { sandbox_id, path: '/root/bytes', content, encoding: 'base64' })
    expect(bytes.size).toBe(3)
    const { commands } = await json('sandbox_commands', { sandbox_id, limit: 10 })
    expect(commands).toContainEqual(
      expect.objectContaining({ command: expect.stringContaining('exit 3'), exit_code: 3 }),
    )
    const { activities } = await json('sandbox_activity', { sandbox_id })
    expect(activities.map(({ type }: { type: string }) => type)).toContain('file.written')
    expect(await json('sandbox_metrics', { sandbox_id })).toMatchObject({
      memory_limit_mb: 512,
      processes: expect.any(Number),
    })
  })

  test('expose ports under addresses and domains', async () => {
    const domain = 'app.outside.example'
    expect(await json('sandbox_add_domain', { sandbox_id, domain })).toMatchObject({
      success: true,
      domain,
      port: null,
    })
    const exposed = await json('sandbox_expose_port', { sandbox_id, port: 3000, subdomain: 'outside' })
    expect(exposed).toMatchObject({ port: 3000, visibility: 'public', requires_auth: false })
    expect(new URL(exposed.public_url).hostname).toBe('outside.localhost')
    expect((await json('sandbox_list_ports', { sandbox_id })).ports).toMatchObject([{ port: 3000 }])
    expect((await json('sandbox_list_domains', { sandbox_id })).domains).toMatchObject([{ domain, port: 3000 }])
    expect(await json('sandbox_remove_domain', { sandbox_id, domain })).toMatchObject({ success: true })
    expect(await json('sandbox_get_url', { sandbox_id, port: 3000 })).toEqual({
      url: `https://3000-${sandbox_id}.localhost`,
    })
    expect(await json('sandbox_remove_port', { sandbox_id, port: 3000 })).toMatchObject({ success: true })
    expect((await json('sandbox_list_ports', { sandbox_id })).ports).toEqual([])
  })

  test('work in terminals', async () => {
    const opened = await json('sandbox_pty_create', { sandbox_id, command: 'bash', cols: 90, rows: 20 })
    expect(opened).toMatchObject({ sandbox_id, command: 'bash', cols: 90, rows: 20, state: 'running' })
    const { session_id } = opened
    const session = { sandbox_id, session_id }
    const typed = await json('sandbox_pty_write', { ...session, input: 'seq 1 40; stty size\n' })
    expect(typed).toEqual({ success: true, bytes_written: 20, session_id })
    const screen = await until('the answer', async () => {
      const read = await json('sandbox_pty_read', session)
      return read.output.includes('20 90') && read
    })
    expect(screen).toMatchObject({ state: 'running', session_id, cols: 90, rows: 20 })
    expect(screen.output.split('\n')).not.toContain('2')
    expect((await json('sandbox_pty_read', { ...session, full: true })).output.split('\n')).toContain('2')
    expect(await json('sandbox_pty_resize', { ...session, cols: 100, rows: 30 })).toMatchObject({ cols: 100, rows: 30 })
    expect(await json('sandbox_pty_list', { sandbox_id })).toMatchObject({
      sandbox_id,
      total: 1,
      sessions: [{ session_id }],
    })
    expect(await json('sandbox_pty_close', session)).toMatchObject({ success: true, session_id, state: 'exited' })
    expect((await json('sandbox_pty_list', { sandbox_id })).total).toBe(0)
    const link = await json('sandbox_terminal_session', { sandbox_id })
    expect(link).toMatchObject({ sandbox_id, token: expect.any(String) })
    expect((await exchange(steward.serviceUrl, new URL(link.terminal_url).pathname, { key: null })).status).toBe(200)
  })

  test('delete the sandbox and return readable errors', async () => {
    expect(await json('sandbox_delete', { sandbox_id })).toMatchObject({ success: true })
    await expect(text('sandbox_get', { sandbox_id })).rejects.toThrow('Sandbox not found or access denied')
    expect(await json('sandbox_list')).toEqual([])
  })

  test('were all called by the tests', () => {
    expect([...called].sort()).toEqual(tools.names.filter((name) => name.startsWith('sandbox_')).sort())
    expect(called.size).toBe(24)
  })
})
