import { expect, test } from 'vitest'
import { ActivityType } from '#shared/contract/activity.ts'
import { activityFilters, matchesFilter } from './activityFilter.ts'

test('every kind of activity is under exactly one filter beside all', () => {
  for (const type of ActivityType.options) {
    expect(activityFilters.filter((filter) => matchesFilter(filter, type))).toHaveLength(2)
  }
})
