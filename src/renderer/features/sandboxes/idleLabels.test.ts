import { expect, test } from 'vitest'
import { idleChoices, idleText } from './idleLabels.ts'

test('says when an idle sandbox stops', () => {
  expect([null, 1, 45, 60, 90, 120, 1440, 2880].map(idleText)).toEqual([
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

test('offers what is usual, and what holds now', () => {
  expect(idleChoices(null)).toEqual([null, 15, 30, 60, 240, 1440])
  expect(idleChoices(45)).toEqual([null, 15, 30, 45, 60, 240, 1440])
})
