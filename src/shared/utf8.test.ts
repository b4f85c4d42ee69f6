import { expect, test } from 'vitest'
import { decodeUtf8, encodeUtf8 } from './utf8.ts'

test('encodes text like other encoders and decodes it unchanged', () => {
  for (const text of ['', 'a%41', 'é€😀', '\u0000\u007f\u0080\u07ff\u0800\uffff', '😀'.repeat(1_000)]) {
    expect(encodeUtf8(text)).toEqual([...Buffer.from(text)])
    expect(decodeUtf8(encodeUtf8(text))).toBe(text)
  }
  expect(encodeUtf8('\ud800')).toEqual([...Buffer.from('\ufffd')])
})

test('rejects bytes that are not valid UTF-8', () => {
  for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xc0, 0x80], [0xed, 0xa0, 0x80]])
    expect(decodeUtf8(bytes)).toBeUndefined()
})
