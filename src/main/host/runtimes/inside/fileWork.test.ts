import { expect, test } from 'vitest'
import type { OperationResult } from './execProtocol.ts'
import { createFileOperations, listSandboxFiles } from './fileWork.ts'
import { type FileAccess, readSandboxFile } from './sandboxFiles.ts'

const { signal } = new AbortController()
/** Entries for the maximum number of links with maximum-length targets in one message. */
const links = Buffer.from(`link\0${0o120777} 4000 1700000000 0 1 0 ${'t'.repeat(4000)}\0`.repeat(30))

/** Creates a sandbox that sends output until it is stopped. */
function endless() {
  let sentBytes = 0
  const door: FileAccess = {
    open({ onOutput = () => {} }) {
      const ended = Promise.withResolvers<OperationResult>()
      let killed = false
      const talk = (): void => {
        if (killed) return
        sentBytes += links.length
        onOutput(links)
        setImmediate(talk)
      }
      setImmediate(talk)
      const kill = (): void => {
        killed = true
        ended.resolve({ kind: 'lost', detail: '' })
      }
      return { started: Promise.resolve(undefined), result: ended.promise, kill }
    },
  }
  return { door, getSentBytes: () => sentBytes }
}

test('truncates an endless listing that exceeds the reply limit', async () => {
  const { door, getSentBytes } = endless()
  const entries = await listSandboxFiles(door, { path: '/many', signal })
  expect(getSentBytes()).toBeLessThan(11 * 1024 * 1024)
  expect(Buffer.byteLength(JSON.stringify(entries))).toBeGreaterThan(8 * 1024 * 1024)
  expect(entries.at(-1)).toMatchObject({ type: 'symlink', path: '/many/link', target: 't'.repeat(4000) })
})

test('rejects a reply longer than requested', async () => {
  const expected = { code: 'exec/failed', message: expect.stringContaining('more data for /file than requested') }
  const first = endless()
  await expect(readSandboxFile(first.door, { path: '/file', maxBytes: 5, signal })).rejects.toMatchObject(expected)
  expect(first.getSentBytes()).toBeLessThan(300_000)
  const second = endless()
  const exec = () => Promise.reject(new Error('Nothing is run.'))
  const files = createFileOperations((work) => work(second.door), { exec, over: signal })
  await expect(files.stat('/file', signal)).rejects.toMatchObject(expected)
  await expect(files.readRange('/file', { offset: 0, length: 5 }, signal)).rejects.toMatchObject(expected)
  expect(second.getSentBytes()).toBeLessThan(600_000)
})
