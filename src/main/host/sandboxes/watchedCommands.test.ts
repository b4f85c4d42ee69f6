import { expect, test } from 'vitest'
import { createWatchedCommands, watchedBytes } from './watchedCommands.ts'

const signal = new AbortController().signal
const soon = { since: 0, waitMs: 60_000, signal }

test('streams command output as it arrives and reports its end', async () => {
  const watched = createWatchedCommands()
  const first = watched.read('a', soon) // before the command starts
  const command = watched.begin('a')
  command.take(Buffer.from('one '))
  expect(await first).toMatchObject({ bytes: Buffer.from('one '), cursor: 4, ended: false })
  const next = watched.read('a', { ...soon, since: 4 })
  command.take(Buffer.from('two'))
  expect(await next).toMatchObject({ bytes: Buffer.from('two'), cursor: 7 })
  const last = watched.read('a', { ...soon, since: 7 })
  command.end()
  expect(await last).toMatchObject({ bytes: Buffer.alloc(0), ended: true })
})

test('keeps the last part of long output, separate from other commands', async () => {
  const watched = createWatchedCommands()
  const command = watched.begin('a')
  for (let index = 0; index < 10; index += 1) command.take(Buffer.alloc(watchedBytes, index))
  const { bytes, cursor } = await watched.read('a', soon)
  expect([bytes.length, bytes[0], cursor]).toEqual([watchedBytes, 9, 10 * watchedBytes])
  expect(await watched.read('b', { since: 3, waitMs: 0, signal })).toEqual({
    bytes: Buffer.alloc(0),
    cursor: 3,
    ended: false,
  })
  expect(() => watched.begin('a')).toThrow('has already started')
})
