import { expect, test } from 'vitest'
import { addressOf, filtersOf, placeOf, withFilters } from './place.ts'

test('an address names a section and what is within it', () => {
  expect(placeOf('#/settings/keys')).toEqual(['settings', 'keys'])
  expect(placeOf(addressOf('approvals', 'a/b c'))).toEqual(['approvals', 'a/b c'])
})

test('what is no place of the window names none', () => {
  expect(['', '#', '#token=x', '#/'].map(placeOf)).toEqual([[], [], [], []])
  expect(placeOf('#/a/%zz')).toEqual(['a', '%zz'])
})

test('filters follow the place and are no part of it', () => {
  const address = withFilters('#/domains/search?q=old', { q: 'a&b/c?d' })
  expect(address).toBe('#/domains/search?q=a%26b%2Fc%3Fd')
  expect(placeOf(address)).toEqual(['domains', 'search'])
  expect(filtersOf(address)).toEqual({ q: 'a&b/c?d' })
  expect(withFilters(address, {})).toBe('#/domains/search')
  expect([filtersOf(''), filtersOf('#/domains'), filtersOf('#token=a?b=c')]).toEqual([{}, {}, {}])
  expect(placeOf(addressOf('activity', 'a?b'))).toEqual(['activity', 'a?b'])
})
