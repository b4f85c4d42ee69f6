import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { getHostSocketPath } from './hostSocket.ts'

test('the socket is in the data folder', () => {
  expect(getHostSocketPath('/home/ada/.local/share/steward')).toBe('/home/ada/.local/share/steward/host/host.sock')
})

test('a folder with a long name gets a short stable address', () => {
  const long = `/home/${'ü'.repeat(60)}`
  const path = getHostSocketPath(long)
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100)
  expect(dirname(dirname(path))).toBe(tmpdir())
  expect(getHostSocketPath(long)).toBe(path)
  expect(getHostSocketPath(`${long}x`)).not.toBe(path)
})
