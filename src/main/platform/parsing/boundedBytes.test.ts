import { expect, test } from 'vitest'
import { readBytes, readFirstBytes } from './boundedBytes.ts'

function createStream(...chunks: string[]) {
  const state = { pulled: 0, isEnded: false }
  async function* stream(): AsyncGenerator<Uint8Array> {
    try {
      for (const chunk of chunks) {
        state.pulled += 1
        yield Buffer.from(chunk)
      }
    } finally {
      state.isEnded = true
    }
  }
  return { state, stream: stream() }
}

test('reads a stream of exactly the limit', async () => {
  expect(String(await readBytes(createStream('ab', 'cd').stream, { maxBytes: 4 }))).toBe('abcd')
})

test('stops a longer stream at the chunk that exceeds the limit', async () => {
  const { stream, state } = createStream('ab', 'cd', 'ef', 'gh')
  await expect(readBytes(stream, { maxBytes: 3 })).rejects.toThrow('The content has more than 3 bytes.')
  expect(state).toEqual({ pulled: 2, isEnded: true })
})

test('throws the error of its reader', async () => {
  const tooLarge = () => new RangeError('The picture is too large.')
  await expect(readBytes(createStream('abc').stream, { maxBytes: 2, tooLarge })).rejects.toThrow(tooLarge())
})

test('returns the first bytes and reports truncation', async () => {
  const { stream, state } = createStream('ab', 'cd', 'ef')
  expect(await readFirstBytes(stream, { maxBytes: 3 })).toEqual({ bytes: Buffer.from('abc'), isTruncated: true })
  expect(state).toEqual({ pulled: 2, isEnded: true })
})

test('stops when its signal aborts while a chunk is pending', async () => {
  let returned = false
  const silent: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise(() => {}),
      return: async () => {
        returned = true
        return { done: true, value: undefined }
      },
    }),
  }
  const leaving = new AbortController()
  const reading = readBytes(silent, { maxBytes: 1, signal: leaving.signal })
  leaving.abort(new Error('too late'))
  await expect(reading).rejects.toThrow('too late')
  expect(returned).toBe(true)
})

test('does not start when its signal is already aborted', async () => {
  const { stream, state } = createStream('ab')
  await expect(readBytes(stream, { maxBytes: 9, signal: AbortSignal.abort(new Error('over')) })).rejects.toThrow('over')
  expect(state.pulled).toBe(0)
})
