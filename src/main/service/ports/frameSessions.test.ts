import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SandboxId } from '#shared/ids.ts'
import { createFrameSessions } from './frameSessions.ts'

const port = { sandboxId: SandboxId.parse('a'.repeat(32)), port: 8000 }
const window = 'http://127.0.0.1:4000'
let nowMs = 1_000_000
const issuer = 'key:one'
const ended = new Set<string>()
const create = () => createFrameSessions({ now: () => nowMs, randomBytes, isPresent: (issuer) => !ended.has(issuer) })

test('a token opens one session for its port and is not a session itself', () => {
  const frames = create()
  const { token, expiresAtMs } = frames.createToken(port, window, issuer)
  expect(expiresAtMs).toBe(nowMs + 60_000)
  expect(frames.find(token, port)?.origin).toBeUndefined()
  expect(frames.open(token, { ...port, port: 8001 })).toBeUndefined()
  const secret = frames.open(token, port) ?? ''
  expect(frames.find(secret, port)?.origin).toBe(window)
  expect(frames.find(secret, { ...port, port: 8001 })?.origin).toBeUndefined()
  expect(frames.find(secret, { ...port, sandboxId: SandboxId.parse('b'.repeat(32)) })?.origin).toBeUndefined()
  expect(frames.open(token, port)).toBeUndefined()
  expect(frames.open(secret, port)).toBeUndefined()
})

test('a token expires after a minute, a session after twelve hours', () => {
  const frames = create()
  const [late, used] = [frames.createToken(port, window, issuer).token, frames.createToken(port, window, issuer).token]
  const secret = frames.open(used, port) ?? ''
  nowMs += 60_000
  expect(frames.open(late, port)).toBeUndefined()
  nowMs += 12 * 3_600_000 - 60_001
  expect(frames.find(secret, port)?.origin).toBe(window)
  nowMs += 1
  expect(frames.find(secret, port)?.origin).toBeUndefined()
})

test('limits tokens to the newest thousand', () => {
  const frames = create()
  const first = frames.createToken(port, window, issuer).token
  const second = frames.createToken(port, window, issuer).token
  for (let count = 0; count < 999; count++) frames.createToken(port, window, issuer)
  expect(frames.open(first, port)).toBeUndefined()
  expect(frames.open(second, port)).toMatch(/^spt_/)
})

test('invalidates tokens and sessions with their issuer', () => {
  const frames = create()
  const token = frames.createToken(port, window, 'key:two').token
  const secret = frames.open(frames.createToken(port, window, 'key:two').token, port) ?? ''
  const { principal } = frames.find(secret, port) ?? {}
  expect(principal).toMatch(/^frame:[0-9a-f]{64}$/)
  expect(frames.findSandbox(principal?.slice('frame:'.length) ?? '')).toBe(port.sandboxId)
  ended.add('key:two')
  expect(frames.open(token, port)).toBeUndefined()
  expect(frames.find(secret, port)).toBeUndefined()
  expect(frames.findSandbox(principal?.slice('frame:'.length) ?? '')).toBeUndefined()
})
