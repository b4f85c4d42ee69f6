import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createFrameSessions } from './frameSessions.ts'

const port = { sandboxId: SandboxId.parse('a'.repeat(32)), port: 8000 }
const window = 'http://127.0.0.1:4000'
let nowMs = 1_000_000
const issuer = 'key:one'
const ended = new Set<string>()
const create = () =>
  createFrameSessions({ now: () => nowMs, randomBytes, isPresent: async (issuer) => !ended.has(issuer) })

test('a token opens one session for its port and is not a session itself', async () => {
  const frames = create()
  const { token, expiresAtMs } = frames.createToken(port, window, issuer)
  expect(expiresAtMs).toBe(nowMs + 60_000)
  expect((await frames.find(token, port))?.origin).toBeUndefined()
  expect(await frames.open(token, { ...port, port: 8001 })).toBeUndefined()
  const secret = (await frames.open(token, port)) ?? ''
  expect((await frames.find(secret, port))?.origin).toBe(window)
  expect((await frames.find(secret, { ...port, port: 8001 }))?.origin).toBeUndefined()
  expect((await frames.find(secret, { ...port, sandboxId: SandboxId.parse('b'.repeat(32)) }))?.origin).toBeUndefined()
  expect(await frames.open(token, port)).toBeUndefined()
  expect(await frames.open(secret, port)).toBeUndefined()
})

test('a token expires after a minute, a session after twelve hours', async () => {
  const frames = create()
  const [late, used] = [frames.createToken(port, window, issuer).token, frames.createToken(port, window, issuer).token]
  const secret = (await frames.open(used, port)) ?? ''
  nowMs += 60_000
  expect(await frames.open(late, port)).toBeUndefined()
  nowMs += 12 * 3_600_000 - 60_001
  expect((await frames.find(secret, port))?.origin).toBe(window)
  nowMs += 1
  expect((await frames.find(secret, port))?.origin).toBeUndefined()
})

test('of 20 concurrent exchanges of a token, one opens a session', async () => {
  const frames = create()
  const { token } = frames.createToken(port, window, issuer)
  const secrets = await Promise.all(Array.from({ length: 20 }, () => frames.open(token, port)))
  expect(secrets.filter((secret) => secret !== undefined)).toHaveLength(1)
})

test('limits tokens to the newest thousand', async () => {
  const frames = create()
  const first = frames.createToken(port, window, issuer).token
  const second = frames.createToken(port, window, issuer).token
  for (let count = 0; count < 999; count++) frames.createToken(port, window, issuer)
  expect(await frames.open(first, port)).toBeUndefined()
  expect(await frames.open(second, port)).toMatch(/^spt_/)
})

test('invalidates tokens and sessions with their issuer', async () => {
  const frames = create()
  const token = frames.createToken(port, window, 'key:two').token
  const secret = (await frames.open(frames.createToken(port, window, 'key:two').token, port)) ?? ''
  const { principal } = (await frames.find(secret, port)) ?? {}
  expect(principal).toMatch(/^frame:[0-9a-f]{64}$/)
  expect(await frames.findSandbox(principal?.slice('frame:'.length) ?? '')).toBe(port.sandboxId)
  ended.add('key:two')
  expect(await frames.open(token, port)).toBeUndefined()
  expect(await frames.find(secret, port)).toBeUndefined()
  expect(await frames.findSandbox(principal?.slice('frame:'.length) ?? '')).toBeUndefined()
})
