import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { processIdentity } from '../processes/processIdentity.ts'
import { findLockHolder, lockData } from './dataLock.ts'

const lockFolder = (folder: string) => lockData({ folder, name: 'steward.lock', program: 'Steward' })

test('a second lock on the same folder names the process that holds it', async () => {
  const folder = temporaryFolder('lock')
  const lock = await lockFolder(folder)
  await expect(lockFolder(folder)).rejects.toMatchObject({
    code: 'data/in-use',
    message: expect.stringContaining(`process ${process.pid}`),
  })
  expect(await findLockHolder(folder, 'steward.lock')).toMatchObject({ pid: process.pid, program: 'Steward' })
  await lock.release()
  expect(readdirSync(folder)).toEqual([])
  await (await lockFolder(folder)).release()
})

test('recovers a lock of an exited process', async () => {
  const folder = temporaryFolder('lock')
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  const text = JSON.stringify({ pid: child.pid, program: 'Steward', identity: 'then', token: 'theirs' })
  writeFileSync(join(folder, 'steward.lock'), text)
  expect(await findLockHolder(folder, 'steward.lock')).toBeUndefined()
  await (await lockFolder(folder)).release()
  expect(readdirSync(folder)).toEqual([])
})

test('recovers a lock whose process id was reused', async () => {
  const folder = temporaryFolder('lock')
  const text = JSON.stringify({ pid: process.pid, program: 'Steward', identity: 'an earlier life', token: 'theirs' })
  writeFileSync(join(folder, 'steward.lock'), text)
  const lock = await lockFolder(folder)
  expect(await findLockHolder(folder, 'steward.lock')).toMatchObject({ identity: await processIdentity(process.pid) })
  await lock.release()
})

test('a copied folder is not locked and is reported as a copy', async () => {
  const original = temporaryFolder('lock')
  const copy = join(temporaryFolder('lock'), 'copy')
  const lock = await lockFolder(original)
  cpSync(original, copy, { recursive: true })
  expect(await findLockHolder(copy, 'steward.lock')).toBeUndefined()
  const ofCopy = await lockFolder(copy)
  expect([lock.previousState, ofCopy.previousState]).toEqual(['released', 'copied'])
  expect(await findLockHolder(original, 'steward.lock')).toBeDefined()
  await ofCopy.release()
  await expect(lockFolder(original)).rejects.toMatchObject({ code: 'data/in-use' })
  await lock.release()
  const again = await lockFolder(original)
  expect(again.previousState).toBe('released')
  await again.release()
})

test('reports a folder that its holder left without releasing it', async () => {
  const folder = temporaryFolder('lock')
  const text = JSON.stringify({ pid: process.pid, program: 'Steward', identity: 'an earlier life', token: 'theirs' })
  writeFileSync(join(folder, 'steward.lock'), text)
  const lock = await lockFolder(folder)
  expect(lock.previousState).toBe('crashed')
  await lock.release()
})

test('a moved folder keeps its lock', async () => {
  const parent = temporaryFolder('lock')
  mkdirSync(join(parent, 'before'))
  const lock = await lockFolder(join(parent, 'before'))
  renameSync(join(parent, 'before'), join(parent, 'after'))
  await expect(lockFolder(join(parent, 'after'))).rejects.toMatchObject({ code: 'data/in-use' })
  renameSync(join(parent, 'after'), join(parent, 'before'))
  await lock.release()
})

test('recovers a torn lock', async () => {
  const folder = temporaryFolder('lock')
  writeFileSync(join(folder, 'steward.lock'), '{"pid":')
  await (await lockFolder(folder)).release()
  expect(readdirSync(folder)).toEqual([])
})

test('only one of many concurrent claims acquires a stale lock', async () => {
  const folder = temporaryFolder('lock')
  writeFileSync(join(folder, 'steward.lock'), 'stale')
  const outcomes = await Promise.allSettled(Array.from({ length: 16 }, () => lockFolder(folder)))
  const won = outcomes.filter((it) => it.status === 'fulfilled')
  expect(won).toHaveLength(1)
  for (const { value } of won) await value.release()
  expect(readdirSync(folder)).toEqual([])
})

test('waits for a holder that is exiting', async () => {
  const folder = temporaryFolder('lock')
  const first = await lockFolder(folder)
  const second = lockData({ folder, name: 'steward.lock', program: 'Steward', waitMs: 30_000 })
  await first.release()
  await (await second).release()
  expect(readdirSync(folder)).toEqual([])
})

test('ignores the remains of a recovery interrupted by a crash', async () => {
  const folder = temporaryFolder('lock')
  const lockText = JSON.stringify({
    pid: process.pid,
    program: 'Steward',
    identity: 'an earlier life',
    token: 'theirs',
  })
  writeFileSync(join(folder, 'steward.lock'), lockText)
  writeFileSync(join(folder, 'steward.lock.claim'), lockText)
  await (await lockFolder(folder)).release()
  expect(readdirSync(folder)).toEqual([])
})

test('reports an unwritable folder as unusable', async () => {
  await expect(lockFolder('/nowhere')).rejects.toMatchObject({ code: 'data/unusable' })
})
