import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSseParser } from './sseEvents.ts'

const field = fc.string({ unit: 'grapheme', minLength: 1 }).map((it) => `x${it.replace(/[\r\n\0]/g, '')}`)

test('any split of the stream bytes yields its events, even within characters', () => {
  fc.assert(
    fc.property(
      fc.array(field, { minLength: 1 }),
      fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
      (datas, sizes) => {
        const bytes = Buffer.from(datas.map((it) => `data: ${it}\n\n`).join(''))
        const parser = createSseParser()
        const events = []
        for (let offset = 0; offset < bytes.length; ) {
          const piece = bytes.subarray(offset, offset + (sizes.next().value ?? 1))
          events.push(...parser.feed(piece))
          offset += piece.length
        }
        expect([...events, ...parser.end()].map(({ data }) => data)).toEqual(datas)
      },
    ),
  )
})
