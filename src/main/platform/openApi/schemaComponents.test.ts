import { expect, test } from 'vitest'
import { z } from 'zod'
import { createSchemaComponents } from './schemaComponents.ts'

test('omits Unicode property patterns and zod-specific formats but keeps all others', () => {
  const { jsonSchema } = createSchemaComponents({})
  const schema = z.object({
    letters: z.string().regex(/^\p{L}+$/u),
    whole: z.string().regex(/^\P{Cs}*$/u),
    lower: z.string().regex(/^[a-z]+$/),
    address: z.string().startsWith('0x'),
    time: z.iso.datetime(),
  })
  expect(jsonSchema(schema, 'input').properties).toEqual({
    letters: { type: 'string' },
    whole: { type: 'string' },
    lower: { type: 'string', pattern: '^[a-z]+$' },
    address: { type: 'string', pattern: '^0x.*' },
    time: { type: 'string', format: 'date-time', pattern: expect.any(String) },
  })
})
