import { expect, test } from 'vitest'
import { maxStatusLineBytes } from '../inside/execProtocol.ts'
import { createEnterMessageReader } from './enterMessages.ts'

const message = (kind: number, text: string): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt8(kind, 0)
  head.writeUInt32BE(text.length, 1)
  return Buffer.concat([head, Buffer.from(text)])
}

function heard(chunks: Buffer[]): { output: string; errors: string; news: string[] } {
  const all = { output: '', errors: '', news: [] as string[] }
  const take = createEnterMessageReader({
    onOutput(bytes) {
      all.output += bytes.toString()
    },
    onErrors(bytes) {
      all.errors += bytes.toString()
    },
    onStatus(line) {
      all.news.push(line)
      return line === 'raw'
    },
  })
  for (const chunk of chunks) take(chunk)
  return all
}

const conversation = Buffer.concat([
  message(3, 'h\n'),
  message(1, 'out '),
  message(2, 'err'),
  message(1, ''),
  message(1, 'put'),
  message(3, 'x 256\n'),
])
const expected = { output: 'out put', errors: 'err', news: ['h', 'x 256'] }

test('separates output and events at any chunk size', () => {
  for (let size = 1; size <= conversation.length; size++) {
    const chunks = []
    for (let offset = 0; offset < conversation.length; offset += size)
      chunks.push(conversation.subarray(offset, offset + size))
    expect(heard(chunks), `in pieces of ${size}`).toEqual(expected)
  }
})

test('treats everything after the expected event as output', () => {
  const bytes = Buffer.concat([message(3, 'raw\n'), Buffer.from([1, 0, 0]), message(3, 'no news')])
  const { output, news } = heard([bytes.subarray(0, 12), bytes.subarray(12)])
  expect(news).toEqual(['raw'])
  expect(Buffer.from(output)).toEqual(bytes.subarray(9))
})

test('passes on only the beginning of an oversized status line', () => {
  const line = 'n'.repeat(maxStatusLineBytes + 1)
  const bytes = message(3, `${line}${'n'.repeat(100_000)}\n`)
  const { news } = heard([bytes.subarray(0, 50_000), bytes.subarray(50_000), message(3, 'x 0\n')])
  expect(news).toEqual([line, 'x 0'])
})

test('waits for the rest of a truncated status line', () => {
  expect(heard([message(3, 'x 256\n').subarray(0, 8)]).news).toEqual([])
})
