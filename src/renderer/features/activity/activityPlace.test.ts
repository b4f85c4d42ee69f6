import { expect, test } from 'vitest'
import { parseActivityPlace } from './activityPlace.ts'

test.each([
  [['activity'], { kind: 'all', search: '' }],
  [['activity', 'int_1'], { kind: 'all', search: 'int_1' }],
  [['activity', 'task', 'chat:msg_1'], { kind: 'task', task: 'chat:msg_1' }],
  [['activity', 'tasks'], { kind: 'tasks' }],
  [['activity', 'task', '<script>'], { kind: 'all', search: 'task' }],
  [['activity', 'payment', 'pay_1'], { kind: 'link', to: 'payment', id: 'pay_1' }],
  [['activity', 'payment'], { kind: 'all', search: 'payment' }],
  [['activity', 'recordings'], { kind: 'recordings', id: undefined }],
  [['activity', 'recordings', 'rec_1'], { kind: 'recordings', id: 'rec_1' }],
])('%j', (parts, place) => {
  expect(parseActivityPlace(parts)).toEqual(place)
})
