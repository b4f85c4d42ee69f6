import { expect, test } from 'vitest'
import { toCallResult } from './mcpServer.ts'

const readMessage = (message: string) => {
  const waiting = { id: 'pay_1', for: 'person', message, expires_at: null } as const
  return toCallResult({ kind: 'waiting', waiting }).structuredContent
}

test('the text of a waiting call has exactly one full stop between sentences', () => {
  const message =
    "Waiting for the user's approval in Steward: Register a.com for 1 year. Call approval_status with id pay_1."
  expect(readMessage('Register a.com for 1 year')).toMatchObject({ waiting: { message } })
  expect(readMessage('Register a.com for 1 year.')).toMatchObject({ waiting: { message } })
})
