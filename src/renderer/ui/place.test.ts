import { expect, test } from 'vitest'
import { addressOf, placeOf } from './place.ts'

test('an address names a section and what is within it', () => {
  expect(placeOf('#/settings/keys')).toEqual(['settings', 'keys'])
  expect(placeOf(addressOf('approvals', 'a/b c'))).toEqual(['approvals', 'a/b c'])
})

test('what is no place of the window names none', () => {
  expect(['', '#', '#token=x', '#/'].map(placeOf)).toEqual([[], [], [], []])
  expect(placeOf('#/a/%zz')).toEqual(['a', '%zz'])
})
