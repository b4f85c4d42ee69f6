import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { openOutput } from './outputHistory.ts'

const open = (folder: string, maxBytes = 64 * 1024 * 1024) =>
  openOutput({ folder, maxStoredBytes: maxBytes, onWritten: () => {}, log: silentLog })

test('stored output is read by the next process, which continues at the same cursor', async () => {
  const folder = temporaryFolder()
  const first = await open(folder)
  first.memory.append(Buffer.from('before '))
  await first.file.waitUntilWritten()
  await first.file.close()

  const second = await open(folder)
  expect(second.memory.end).toBe(7)
  second.memory.append(Buffer.from('after'))
  await second.file.waitUntilWritten()
  expect((await second.history.read(0, 100)).bytes.toString()).toBe('before ')
  expect((await second.history.read(3, 2)).bytes.toString()).toBe('or')
  expect((await second.history.read(7, 100)).bytes.toString()).toBe('after')
  await second.file.close()
})

test('drops the oldest half when the newer one is full, and cursors continue', async () => {
  const folder = temporaryFolder()
  const output = await open(folder, 1000)
  for (let n = 0; n < 50; n++) {
    output.memory.append(Buffer.from(String(n).padStart(100, '.')))
    await output.file.waitUntilWritten()
  }
  expect(await readdir(folder)).toHaveLength(2)
  expect(output.file.start).toBeGreaterThanOrEqual(5000 - 1100)
  expect(output.memory.end).toBe(5000)
  await output.file.close()

  const again = await open(folder, 1000)
  const { start, bytes } = await again.history.read(0, 100_000)
  expect(start).toBe(output.file.start)
  const all = bytes.toString() + (await again.history.read(start + bytes.length, 100_000)).bytes.toString()
  expect(all).toMatch(/\.48\.+49$/)
  expect(again.memory.end).toBe(5000)
  await again.file.close()
})

test('reads bytes from memory until they are on disk without a gap', async () => {
  const folder = temporaryFolder()
  const output = await open(folder)
  const piece = Buffer.alloc(200_000, 'x')
  for (let n = 0; n < 20; n++) {
    output.memory.append(piece)
    output.file.pump()
    output.memory.forget(Math.min(output.file.end, output.memory.end - 100_000))
    let cursor = 0
    while (cursor < output.memory.end) {
      const { start, bytes } = await output.history.read(cursor, 1_000_000)
      expect(start).toBe(cursor)
      cursor += bytes.length
    }
  }
  await output.file.waitUntilWritten()
  await output.file.close()
})

test('a disk that rejects writes does not block the terminal', async () => {
  const folder = temporaryFolder()
  const output = await openOutput({
    folder: join(folder, 'gone'),
    maxStoredBytes: 1000,
    onWritten: () => {},
    log: silentLog,
  }).catch(() => undefined)
  expect(output).toBeUndefined()

  const working = await open(folder, 100)
  working.memory.append(Buffer.alloc(60, 'a'))
  await working.file.waitUntilWritten()
  await rm(folder, { recursive: true })
  working.memory.append(Buffer.alloc(60, 'b'))
  working.file.pump()
  working.memory.append(Buffer.alloc(60, 'c'))
  working.file.pump()
  await eventually(() => expect(working.file.end).toBe(working.memory.end))
  expect((await working.history.read(60, 200)).bytes.toString()).toContain('c')
  await working.file.close()
})
