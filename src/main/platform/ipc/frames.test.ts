import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, type Frame, writeFrame } from './frames.ts'

test('frames arrive complete and in order with any split of the bytes', () => {
  const frame = fc.record({ header: fc.jsonValue(), body: fc.uint8Array({ maxLength: 300 }) })
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 8 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 64 })),
      (sizes, cuts) => {
        const wire = Buffer.concat(sizes.map(({ header, body }) => encodeFrame(header, body)))
        const received: Frame[] = []
        const read = createFrameReader((it) => received.push(it))
        for (let offset = 0; offset < wire.length; ) {
          const size = cuts.next().value
          const chunk = Buffer.from(wire.subarray(offset, offset + size))
          read(chunk)
          chunk.fill(0xee) // the reader may reuse the buffer
          offset += size
        }
        expect(received.map(({ header }) => header)).toEqual(
          sizes.map(({ header }) => JSON.parse(JSON.stringify(header))),
        )
        expect(received.map(({ body }) => Buffer.from(body).toString('hex'))).toEqual(
          sizes.map(({ body }) => Buffer.from(body).toString('hex')),
        )
      },
    ),
  )
})

test('rejects an oversized frame before waiting for its bytes', () => {
  const read = createFrameReader(() => {})
  const prefix = Buffer.alloc(8)
  prefix.writeUInt32BE(2, 0)
  prefix.writeUInt32BE(0xffff_ffff, 4)
  expect(() => read(prefix)).toThrow('too large')
})

test('reassembles a large body sent in chunks', () => {
  const body = Buffer.from(Array.from({ length: 3 * 1024 * 1024 }, (_, index) => index % 251))
  const wire = encodeFrame({ kind: 'data' }, body)
  const received: Frame[] = []
  const read = createFrameReader((it) => received.push(it))
  for (let offset = 0; offset < wire.length; offset += 60_000) read(wire.subarray(offset, offset + 60_000))
  expect(received.map((it) => it.body.equals(body))).toEqual([true])
})

test('rejects a header that is not JSON', () => {
  const read = createFrameReader(() => {})
  const prefix = Buffer.alloc(8)
  prefix.writeUInt32BE(3, 0)
  expect(() => read(Buffer.concat([prefix, Buffer.from('{x}')]))).toThrow(SyntaxError)
})

/** Encodes a frame as on the wire. `writeFrame` uses only socket methods that every stream has. */
function encodeFrame(header: unknown, body: Uint8Array): Buffer {
  const stream = new PassThrough({ highWaterMark: 1024 * 1024 })
  writeFrame(stream as unknown as Parameters<typeof writeFrame>[0], header, body)
  return stream.read() as Buffer
}
