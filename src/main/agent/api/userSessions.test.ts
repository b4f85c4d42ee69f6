import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openClock } from '#platform/time/clock.ts'
import { createShiftedTime } from '#test/support/fakes/shiftedTime.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createUserSessions, type OpenedSession } from './userSessions.ts'

const dayMs = 86_400_000

function openSessions({ file = join(temporaryFolder('sessions'), 'sessions.json'), nowMs = 0 } = {}) {
  let now = nowMs
  const sessions = () => createUserSessions({ file, now: () => now })
  const later = (ms: number): void => {
    now += ms
  }
  const first = sessions()
  const session = first.exchange(first.issueToken())
  if (!session) throw new Error('The token opens a session.')
  return { file, sessions, session, later }
}
const holds = (sessions: ReturnType<typeof createUserSessions>, { secret, windowKey }: OpenedSession) =>
  sessions.isOpen(secret, { key: windowKey })

test('a window with its key resumes the session after a restart', () => {
  const { sessions, session } = openSessions()
  const again = sessions()
  expect(holds(again, session)).toBe(true)
  expect(again.isOpen(session.secret, { key: 'another' })).toBe(false)
  expect(again.isOpen('another', { key: session.windowKey })).toBe(false)
})

test('the session file contains no usable secret', () => {
  const { file, sessions, session } = openSessions()
  const text = readFileSync(file, 'utf8')
  expect(text).not.toContain(session.secret)
  expect(text).not.toContain(session.windowKey)
  const again = sessions()
  for (const secretText of text.match(/[\w-]{20,}/g) ?? []) {
    expect(again.isOpen(secretText, { key: secretText })).toBe(false)
    expect(again.exchange(secretText)).toBeUndefined()
  }
})

test('rejects a token issued before a restart', () => {
  const { file, sessions } = openSessions()
  const token = createUserSessions({ file, now: () => 0 }).issueToken()
  expect(sessions().exchange(token)).toBeUndefined()
})

test('a session expires a week after it was opened', () => {
  const { sessions, session, later } = openSessions()
  later(7 * dayMs - 1)
  expect(holds(sessions(), session)).toBe(true)
  later(1)
  expect(holds(sessions(), session)).toBe(false)
})

test('ignores a session file with invalid content', () => {
  const { file, sessions, session } = openSessions()
  writeFileSync(file, '[{"digest":"x"}]')
  expect(holds(sessions(), session)).toBe(false)
})

test('setting the clock back does not revive an expired session', () => {
  const time = createShiftedTime()
  const clock = openClock({ source: time.source, store: { read: () => undefined, write() {} } })
  try {
    const sessions = createUserSessions({ now: clock.latestMs })
    const session = sessions.exchange(sessions.issueToken())
    if (!session) throw new Error('The token opens a session.')
    time.pass(7 * dayMs + 1_000) // the clocks are read one after the other
    expect(holds(sessions, session)).toBe(false)
    time.set(-30 * dayMs)
    expect(holds(sessions, session)).toBe(false)
  } finally {
    clock.close()
  }
})
