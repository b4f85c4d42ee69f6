import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'
import { hostSocketPath } from './hostSocket.ts'

test('the socket is in the data folder', () => {
  expect(hostSocketPath('/home/ada/.local/share/steward')).toBe('/home/ada/.local/share/steward/host/host.sock')
})

test('a folder with a long name gets a short address of its own, always the same', () => {
  const long = `/home/${'ü'.repeat(60)}`
  const path = hostSocketPath(long)
  expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100)
  expect(dirname(dirname(path))).toBe(tmpdir())
  expect(hostSocketPath(long)).toBe(path)
  expect(hostSocketPath(`${long}x`)).not.toBe(path)
})
