import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RequestFields, runningService, type TestService } from '../support/processes/runningService.ts'

/** Exceeding a limit returns 429, with the limit and the time of the next attempt. */
let service: TestService
let sandbox: string

beforeAll(async () => {
  service = await runningService()
  const created = await service.send('/v1/sandboxes', { body: { name: 'crowded' } })
  expect(created.status, created.text).toBe(201)
  sandbox = `/v1/sandboxes/${created.json.id}`
  await service.send(`${sandbox}/ports/expose`, { body: { port: 1 } })
})
afterAll(() => service?.close())

type RequestFactory = (number: number) => { path: string; sent: RequestFields }

const limits: Record<string, { max: number; code: string; ask: RequestFactory }> = {
  terminals: { max: 64, code: 'terminal/too-many', ask: () => ask(`${sandbox}/pty`, { command: 'cat' }) },
  ports: { max: 64, code: 'port/too-many', ask: (port) => ask(`${sandbox}/ports/expose`, { port }) },
  domains: {
    max: 32,
    code: 'sandbox-domain/too-many',
    ask: (number) => ask(`${sandbox}/domains`, { domain: `n${number}.example`, port: 1 }),
  },
  keys: { max: 200, code: 'key/too-many', ask: (number) => ask('/v1/auth/api-keys', { name: `key ${number}` }) },
  snapshots: {
    max: 32,
    code: 'snapshot/too-many',
    ask: (number) => ask(`${sandbox}/snapshots`, { name: `s${number}` }),
  },
  uploads: {
    max: 64,
    code: 'upload/too-many',
    ask: (number) => ask(`${sandbox}/files/uploads`, { path: `/tmp/up${number}`, size: 10 }),
  },
}

function ask(path: string, body: object): ReturnType<RequestFactory> {
  return { path, sent: { body } }
}

test.each(Object.keys(limits))('%s: rejects a request above the limit with a Retry-After header', async (kind) => {
  const { max, code, ask } = limits[kind] ?? expect.unreachable()
  for (let number = 1; number <= max + 1; number++) {
    const { path, sent } = ask(number)
    const { status, json, headers } = await service.send(path, sent)
    if (status < 300) continue
    expect([status, json.code, headers['retry-after']]).toEqual([429, code, expect.stringMatching(/^[1-9]\d*$/)])
    return
  }
  expect.unreachable(`${max + 1} were made.`)
})
