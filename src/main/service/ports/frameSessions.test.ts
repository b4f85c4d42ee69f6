import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { SandboxId } from '../../../shared/ids.ts'
import { createFrameSessions } from './frameSessions.ts'

const port = { sandboxId: SandboxId.parse('a'.repeat(32)), port: 8000 }
const window = 'http://127.0.0.1:4000'
let nowMs = 1_000_000
const create = () => createFrameSessions({ now: () => nowMs, randomBytes })

test('a token opens one session, for its port, and is none itself', () => {
  const frames = create()
  const { token, expiresAtMs } = frames.createToken(port, window)
  expect(expiresAtMs).toBe(nowMs + 60_000)
  expect(frames.findOrigin(token, port)).toBeUndefined()
  expect(frames.open(token, { ...port, port: 8001 })).toBeUndefined()
  const secret = frames.open(token, port) ?? ''
  expect(frames.findOrigin(secret, port)).toBe(window)
  expect(frames.findOrigin(secret, { ...port, port: 8001 })).toBeUndefined()
  expect(frames.findOrigin(secret, { ...port, sandboxId: SandboxId.parse('b'.repeat(32)) })).toBeUndefined()
  expect(frames.open(token, port)).toBeUndefined()
  expect(frames.open(secret, port)).toBeUndefined()
})

test('a token lives for a minute, a session for twelve hours', () => {
  const frames = create()
  const [late, used] = [frames.createToken(port, window).token, frames.createToken(port, window).token]
  const secret = frames.open(used, port) ?? ''
  nowMs += 60_000
  expect(frames.open(late, port)).toBeUndefined()
  nowMs += 12 * 3_600_000 - 60_001
  expect(frames.findOrigin(secret, port)).toBe(window)
  nowMs += 1
  expect(frames.findOrigin(secret, port)).toBeUndefined()
})

test('the newest thousand tokens count', () => {
  const frames = create()
  const first = frames.createToken(port, window).token
  const second = frames.createToken(port, window).token
  for (let count = 0; count < 999; count++) frames.createToken(port, window)
  expect(frames.open(first, port)).toBeUndefined()
  expect(frames.open(second, port)).toMatch(/^spt_/)
})
