import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openStartSocket, requestFreshUrl } from './startSocket.ts'

test('each start of the same user gets a new address until it is closed', async () => {
  const folder = temporaryFolder('data')
  expect(await requestFreshUrl(folder)).toBeUndefined()
  let count = 0
  const socket = await openStartSocket(folder, () => `http://127.0.0.1:1/#token=${++count}`)
  expect(statSync(join(folder, 'app', 'start.sock')).mode & 0o777).toBe(0o600)
  expect(await requestFreshUrl(folder)).toBe('http://127.0.0.1:1/#token=1')
  expect(await requestFreshUrl(folder)).toBe('http://127.0.0.1:1/#token=2')
  await socket?.close()
  expect(await requestFreshUrl(folder)).toBeUndefined()
})
