import { expect, test } from 'vitest'
import { buildAddress, parseRoute, parseRouteFilters, withFilters } from './route.ts'

test('parses a hash route into a section and its path segments', () => {
  expect(parseRoute('#/settings/keys')).toEqual(['settings', 'keys'])
  expect(parseRoute(buildAddress('approvals', 'a/b c'))).toEqual(['approvals', 'a/b c'])
})

test('returns no segments for a hash that is not a route', () => {
  expect(['', '#', '#token=x', '#/'].map(parseRoute)).toEqual([[], [], [], []])
  expect(parseRoute('#/a/%zz')).toEqual(['a', '%zz'])
})

test('parses filters after the route without adding them to its segments', () => {
  const address = withFilters('#/domains/search?q=old', { q: 'a&b/c?d' })
  expect(address).toBe('#/domains/search?q=a%26b%2Fc%3Fd')
  expect(parseRoute(address)).toEqual(['domains', 'search'])
  expect(parseRouteFilters(address)).toEqual({ q: 'a&b/c?d' })
  expect(withFilters(address, {})).toBe('#/domains/search')
  expect([parseRouteFilters(''), parseRouteFilters('#/domains'), parseRouteFilters('#token=a?b=c')]).toEqual([
    {},
    {},
    {},
  ])
  expect(parseRoute(buildAddress('activity', 'a?b'))).toEqual(['activity', 'a?b'])
})
