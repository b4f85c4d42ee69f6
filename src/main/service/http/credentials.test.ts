import { expect, test } from 'vitest'
import { findProtocolToken } from './credentials.ts'

test('finds the token among the subprotocols', () => {
  expect(findProtocolToken({ 'sec-websocket-protocol': 'steward, steward.token.abc' })).toBe('abc')
  expect(findProtocolToken({ 'sec-websocket-protocol': 'steward' })).toBeUndefined()
  expect(findProtocolToken({})).toBeUndefined()
})
