import { readFileSync, readlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { isRunning } from '#platform/processes/processIdentity.ts'
import { until } from '#test/support/assertions/eventually.ts'
import { skipWhen } from '#test/support/runner/skipWhen.ts'
import { findExecutable } from './hostTools.ts'
import { createSharedUsers } from './sharedUsers.ts'

skipWhen(process.getuid?.() === 0 ? undefined : 'the maps of this range need root')
const perl = (await findExecutable('perl')) ?? 'perl'
const range = { uids: '0 0 65536', gids: '0 0 65536', firstUid: undefined, mappers: undefined }

test('holds one user namespace with the range and replaces a killed one', async () => {
  const users = createSharedUsers({ perl, range })
  const [pid, same] = await Promise.all([users.holder(), users.holder()])
  expect(same).toBe(pid)
  expect(readlinkSync(`/proc/${pid}/ns/user`)).not.toBe(readlinkSync('/proc/self/ns/user'))
  expect(readFileSync(`/proc/${pid}/uid_map`, 'utf8').trim().split(/\s+/)).toEqual(['0', '0', '65536'])
  process.kill(pid, 'SIGKILL')
  await until('its end to be known', async () => (await users.holder().catch(() => pid)) !== pid)
  const next = await users.holder()
  users.close()
  await until('its end', async () => !isRunning(next))
  await expect(users.holder()).rejects.toThrow('shutting down')
})

test('reports why the range cannot be mapped', async () => {
  const users = createSharedUsers({ perl, range: { ...range, uids: 'nothing' } })
  await expect(users.holder()).rejects.toThrow('the user ids could not be mapped')
  users.close()
})
