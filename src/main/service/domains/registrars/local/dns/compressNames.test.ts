import { decode, encode, type Packet } from 'dns-packet'
import { expect, test } from 'vitest'
import { compressNames } from './compressNames.ts'

const addresses = (count: number): Packet => ({
  type: 'response',
  id: 7,
  questions: [{ type: 'A', name: 'www.example.com' }],
  answers: Array.from({ length: count }, (_, index) => ({
    type: 'A' as const,
    name: 'www.example.com',
    ttl: 300,
    data: `192.0.2.${index + 1}`,
  })),
  authorities: [{ type: 'NS', name: 'example.com', ttl: 300, data: 'ns1.example.net' }],
  additionals: [
    { type: 'MX', name: 'EXAMPLE.com', ttl: 300, data: { preference: 10, exchange: 'mail.example.com' } },
    { type: 'TXT', name: 'a.b.example.com', ttl: 300, data: ['\0www.example.com'] },
  ],
})

test('forty addresses of one name fit into a datagram', () => {
  const plain = encode(addresses(40))
  const compressed = compressNames(plain)
  expect(plain.length).toBeGreaterThan(1_232)
  expect(compressed.length).toBeLessThan(800)
  expect(decode(compressed)).toEqual(decode(plain))
})

test('does not compress names beyond the maximum pointer offset', () => {
  const answers = Array.from({ length: 3_000 }, (_, index) => ({
    ...{ type: 'A' as const, name: `host${index}.example.com`, ttl: 300, data: '192.0.2.1' },
  }))
  const plain = encode({ type: 'response', id: 1, questions: [], answers })
  const compressed = compressNames(plain)
  expect(compressed.length).toBeLessThan(plain.length)
  expect(decode(compressed)).toEqual(decode(plain))
})

test('leaves an empty message and the root name unchanged', () => {
  const packets: Packet[] = [
    { type: 'response', id: 1 },
    { type: 'response', id: 1, questions: [{ type: 'NS', name: '.' }] },
  ]
  for (const packet of packets) expect(compressNames(encode(packet))).toEqual(encode(packet))
})
