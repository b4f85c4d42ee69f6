import { expect, test } from 'vitest'
import { parseToolList } from './parseToolList.ts'

const tool = (name: string) => ({ name, description: 'x', inputSchema: { type: 'object' } })

test('a tool name with hidden characters is shown without them and gets no alias', () => {
  const listed = parseToolList('files', [tool('x\u200by'), tool('xy'), tool('a\u202eb'), tool('ok')])
  expect(listed.map(({ name, alias }) => [name, alias])).toEqual([
    ['xy (hidden characters)', null],
    ['xy', 'files__xy'],
    ['ab (hidden characters)', null],
    ['ok', 'files__ok'],
  ])
  expect(JSON.stringify(listed)).not.toMatch(/[\u200b\u202e]/)
})
