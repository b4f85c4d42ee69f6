import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/assertions/eventually.ts'
import { runningService, type TestService } from '../support/processes/runningService.ts'

/** Long responses to clients that do not read them. */
const streamBytes = 10 * 1024 * 1024
const controls = `head -c ${streamBytes} /dev/zero | tr '\\0' '\\1'`
const mebibyte = 1024 * 1024

let service: TestService
let sandbox: string
const readers = new Set<IncomingMessage>()

beforeAll(async () => {
  service = await runningService({ answerLimits: { maxBytesPerAccount: 20 * mebibyte } })
  const { status, json, text: body } = await service.send('/v1/sandboxes', { body: { network: 'none' } })
  expect(status, body).toBe(201)
  sandbox = `/v1/sandboxes/${json.id}`
})
afterEach(async () => {
  for (const reader of readers) reader.destroy()
  readers.clear()
  await eventually(async () => expect((await exec('true')).status).toBe(200))
})
afterAll(() => service?.close())

const exec = (command: string) => service.send(`${sandbox}/exec`, { body: { command } })

/** Reads the head of a response, and nothing of its body until the test reads it. */
function startReading(command: string): Promise<IncomingMessage> {
  const body = JSON.stringify({ command })
  const headers = { 'x-api-key': service.key, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${service.url}${sandbox}/exec`, { method: 'POST', headers, agent: false }, (answer) => {
      readers.add(answer.on('error', () => {}))
      resolve(answer)
    })
    sent.on('error', reject).end(body)
  })
}

test('returns ten megabytes of control characters completely as base64', async () => {
  const { status, text: body, json } = await exec(controls)
  expect(status).toBe(200)
  expect(json).toMatchObject({ encoding: 'base64', exit_code: 0, truncated: false })
  expect(Buffer.from(json.stdout, 'base64').equals(Buffer.alloc(streamBytes, 1))).toBe(true)
  expect(body.length).toBeLessThan(14 * mebibyte)
})

test('rejects a command before it runs if the account has too much unread output', async () => {
  const reader = await startReading(controls)
  expect(reader.statusCode).toBe(200)

  const refused = await exec('touch /tmp/ran')
  expect(refused.status, refused.text).toBe(429)
  expect(refused.json).toMatchObject({ code: 'request/rate' })
  expect(refused.headers['retry-after']).toBe('2')
  expect((await service.send(sandbox)).status).toBe(200)

  const { stdout } = JSON.parse(await text(reader))
  expect(Buffer.from(stdout, 'base64')).toHaveLength(streamBytes)
  await eventually(async () => expect((await exec('true')).status).toBe(200))
  expect((await exec('ls /tmp')).json.stdout).toBe('')
})

test('rejects a long response and sends a short one while another is unread', async () => {
  await exec(`head -c ${8 * mebibyte} /dev/zero | tr '\\0' a > /root/long; echo short > /root/short`)
  const read = (path: string) => service.send(`${sandbox}/files/read?path=${path}`)
  expect((await read('/root/long')).json.content).toHaveLength(8 * mebibyte)

  await startReading(controls)
  const refused = await read('/root/long')
  expect(refused.status, refused.text).toBe(429)
  expect((await read('/root/short')).json.content).toBe('short\n')
})

test('the limit for unread bytes applies to any number of slow readers', async () => {
  const answers = await Promise.all(Array.from({ length: 6 }, () => startReading(controls)))
  const statuses = answers.map(({ statusCode }) => statusCode).toSorted()
  expect(statuses).toEqual([200, 429, 429, 429, 429, 429])
})
