import { expect, test } from 'vitest'
import { buildMessageTree, maxReasoningLength } from './buildMessageTree.ts'
import type { ImportedNode } from './importedConversation.ts'

const node = (id: string, parentId: string | undefined, role: ImportedNode['role'], reasoning = ''): ImportedNode => ({
  id,
  parentId,
  role,
  text: id,
  reasoning,
  atMs: undefined,
  model: undefined,
})

test('attaches hidden reasoning only to the first assistant message after it', () => {
  const answers = Array.from({ length: 600 }, (_, index) => node(`a${index}`, 'thoughts', 'assistant'))
  const messages = buildMessageTree([node('thoughts', undefined, 'hidden', 'I think.'), ...answers])
  expect(messages.map(({ reasoning }) => reasoning)).toEqual(['I think.', ...Array(599).fill('')])
})

test('joins consecutive reasoning nodes in order up to a limit', () => {
  const thoughts = Array.from({ length: 300 }, (_, index) =>
    node(`t${index}`, index === 0 ? undefined : `t${index - 1}`, 'hidden', `${index}`.padEnd(100_000, '.')),
  )
  const [answer] = buildMessageTree([...thoughts, node('a', 't299', 'assistant')])
  expect(answer?.reasoning).toHaveLength(maxReasoningLength)
  const short = [node('x', undefined, 'hidden', 'one'), node('y', 'x', 'hidden', 'two')]
  expect(buildMessageTree([...short, node('z', 'y', 'assistant', 'three')])[0]?.reasoning).toBe('one\n\ntwo\n\nthree')
})
