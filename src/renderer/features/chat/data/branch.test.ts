import { expect, test } from 'vitest'
import type { Message } from '#shared/contract/chatMessages.ts'
import {
  type Branch,
  type BranchPage,
  hasEarlier,
  hasLater,
  listBranchRows,
  toBranch,
  withMessage,
  withPage,
  withSent,
} from './branch.ts'

const message = (position: number, more: Partial<Message> = {}, name = 'm'): Message =>
  ({
    id: `${name}${position}`,
    parent_id: position === 1 ? null : `m${position - 1}`,
    position,
    group_id: null,
    sibling_ids: [],
    ...more,
  }) as Message

const page = (from: number, to: number, total: number, messages?: Message[]): BranchPage => ({
  messages: messages ?? Array.from({ length: to - from + 1 }, (_, at) => message(from + at)),
  beside: [],
  total,
  leaf_id: `m${total}` as BranchPage['leaf_id'],
})
const ids = ({ messages }: Branch) => messages.map(({ id }) => id)

test('joins pages before and after the loaded messages', () => {
  const tail = toBranch(page(8, 10, 10))
  expect([hasEarlier(tail), hasLater(tail)]).toEqual([true, false])
  const more = withPage(tail, page(5, 7, 10))
  expect(ids(more)).toEqual(['m5', 'm6', 'm7', 'm8', 'm9', 'm10'])
  const grown = withPage(more, page(10, 11, 11))
  expect(ids(grown).at(-1)).toBe('m11')
  expect(hasLater(withPage(toBranch(page(2, 4, 10)), page(5, 6, 10)))).toBe(true)
})

test('replaces messages of another branch', () => {
  const branch = toBranch(page(5, 8, 8))
  const other = [
    message(7, { parent_id: 'm6' as Message['parent_id'] }, 'x'),
    message(8, { parent_id: 'x7' as Message['parent_id'] }, 'x'),
  ]
  expect(ids(withPage(branch, page(7, 8, 8, other)))).toEqual(['m5', 'm6', 'x7', 'x8'])
  const foreign = [message(7, { parent_id: 'y6' as Message['parent_id'] }, 'y')]
  expect(ids(withPage(branch, page(7, 7, 7, foreign)))).toEqual(['y7'])
  // A shortened branch ends at its new last message.
  expect(ids(withPage(branch, page(5, 6, 6)))).toEqual(['m5', 'm6'])
})

test('appends a sent turn and replaces the tail after an edit', () => {
  const branch = toBranch(page(1, 4, 4))
  const sent = withSent(branch, { user: message(5), answers: [message(6), message(6, { group_id: 'g' }, 'other')] })
  expect(ids(sent).slice(-2)).toEqual(['m5', 'm6'])
  expect([sent.total, sent.leafId, sent.beside.length]).toEqual([6, 'm6', 1])
  const edited = withSent(branch, {
    user: message(3, {}, 'e'),
    answers: [message(4, { parent_id: 'e3' as Message['parent_id'] }, 'e')],
  })
  expect(ids(edited)).toEqual(['m1', 'm2', 'e3', 'e4'])
  expect(withMessage(branch, message(2, { text: 'new' })).messages[1]?.text).toBe('new')
})

test('lists completions of one group side by side in request order', () => {
  const group = { group_id: 'g', sibling_ids: ['a2', 'm2', 'b2'] } as Partial<Message>
  const branch: Branch = {
    ...toBranch(page(1, 2, 2, [message(1), message(2, group)])),
    beside: [message(2, group, 'b'), message(2, group, 'a')],
  }
  const rows = listBranchRows(branch)
  expect(rows.map(({ key, beside }) => [key, beside.map(({ id }) => id)])).toEqual([
    ['m1', []],
    ['g', ['a2', 'm2', 'b2']],
  ])
})
