import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { probeNetwork } from '#host/runtimes/bubblewrap/network/networkSupport.ts'
import { networksClosedToSandboxes } from '#platform/net/specialAddresses.ts'
import { listSandboxResources } from '../support/assertions/sandboxResources.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { runInWorld } from '../support/network/inWorld.ts'
import { firstSubordinateId, ordinaryUid, runAndParse, type User, withIds } from '../support/processes/runAsUser.ts'
import { skipWhen } from '../support/runner/skipWhen.ts'

const isRoot = process.getuid?.() === 0
const files = '0:0\nclosed'
const ofUser = { stored: null, outside: ordinaryUid, inside: files }
type Observation = { stored: number; outside: number; inside: string }

skipWhen(isRoot ? undefined : 'it becomes users with and without subordinate ids, which needs root')

test('sandboxes of an ordinary user get separate ids where available and preserve original ids', async () => {
  const data = temporaryFolder('ownIds')
  const sandboxes = join(data, 'machines')
  await chown(data, ordinaryUid, ordinaryUid)
  const run = async (part: string, user: User) => {
    const folder = join(data, `run-${part}`)
    await mkdir(folder)
    return runAndParse({ script: 'test/support/processes/subordinateIds.ts', parts: [data, part], folder, user })
  }

  const before = await run('before', 'an ordinary user')
  expect(before.seen).toEqual(ofUser)
  expect(before.detail).toContain('Sandboxes share the kernel’s per-user limits')

  const observations = await run('with', withIds)
  expect(observations.detail).not.toContain('Sandboxes share')
  expect(observations.old).toEqual(ofUser)
  const own: Observation[] = [observations.own, observations.ofOld, observations.ofOwn]
  for (const { stored, outside, inside } of own) {
    expect(stored).toBe(firstSubordinateId + outside - 1)
    expect(outside).toBeGreaterThanOrEqual(20_000)
    expect(outside).toBeLessThan(60_000)
    expect(inside).toBe(files)
  }
  expect(new Set(own.map(({ stored }) => stored)).size).toBe(3)
  expect(observations.link).toBe('2')
  expect(observations.restored).toEqual(observations.own)
  expect([observations.isCopied, observations.copiedUser]).toEqual([true, observations.own.stored])
  expect(observations.storedIds).toEqual(['a', 'b'].map((letter) => letter.repeat(32)))
  expect(observations.snapshots).toEqual([`snap_${'b'.repeat(24)}`])
  expect(observations.snapshotsLeft).toEqual([])

  const after = await run('after', 'an ordinary user')
  expect(after.refused).toEqual(['runtime/unavailable', 'runtime/unavailable'])
  expect(after.old).toEqual(ofUser)
  expect(after.stored).toEqual(['b'.repeat(32)])

  expect(await run('end', withIds)).toEqual({ stored: [] })
  for (const { stored } of own)
    expect(await listSandboxResources({ id: 'b'.repeat(32), folder: sandboxes, uid: stored })).toEqual([])
})

test('a sandbox with a network gets a separate id', async (context) => {
  const missing = (await probeNetwork(networksClosedToSandboxes)).detail
  if (missing !== null) return context.skip(missing)
  const { stored, reached } = await runInWorld<{ stored: number; reached: string }>(
    'test/support/processes/subordinateIds.ts',
    withIds,
    ['connected'],
  )
  expect(stored).toBeGreaterThan(firstSubordinateId)
  expect(reached).toBe('reached')
})
