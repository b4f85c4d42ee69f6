import { expect, test } from 'vitest'
import { formatIdle, listIdleChoices } from './idleLabels.ts'

test('formats the idle time after which a sandbox stops', () => {
  expect([null, 1, 45, 60, 90, 120, 1440, 2880].map(formatIdle)).toEqual([
    'Never',
    'After 1 minute',
    'After 45 minutes',
    'After 1 hour',
    'After 90 minutes',
    'After 2 hours',
    'After 1 day',
    'After 2 days',
  ])
})

test('offers the default idle times and the current one', () => {
  expect(listIdleChoices(null)).toEqual([null, 15, 30, 60, 240, 1440])
  expect(listIdleChoices(45)).toEqual([null, 15, 30, 45, 60, 240, 1440])
})
