import { expect, test } from 'vitest'
import { decodeFileName, encodeName } from './fileNames.ts'

test.each(['plain', 'ü 🦀', 'line\nbreak', '\ue000', '"\'\\'])('%j is encoded unchanged', (name) => {
  expect(decodeFileName(Buffer.from(name))).toBe(name)
  expect(encodeName(name)).toEqual(Buffer.from(name))
})

test('every name has a unique text that decodes back to it', () => {
  const names = [
    Buffer.of(0xff, 0x41, 0xc3),
    Buffer.of(0xc3, 0xbc, 0xe2, 0x82),
    Buffer.from('\uef80\uefff'),
    Buffer.of(0xf0, 0x9f, 0xa6, 0x80, 0x80),
    Buffer.of(0xee, 0xbe),
    Buffer.from(Array.from({ length: 255 }, (_, byte) => byte + 1)),
  ]
  const texts = names.map(decodeFileName)
  expect(new Set(texts).size).toBe(names.length)
  for (const [index, text] of texts.entries()) expect(encodeName(text)).toEqual(names[index])
  expect(texts[0]).toBe('\uefffA\uefc3')
})
