import { expect, test } from 'vitest'
import { protocolToken } from './credentials.ts'

test('finds the token among the subprotocols', () => {
  expect(protocolToken({ 'sec-websocket-protocol': 'steward, steward.token.abc' })).toBe('abc')
  expect(protocolToken({ 'sec-websocket-protocol': 'steward' })).toBeUndefined()
  expect(protocolToken({})).toBeUndefined()
})
