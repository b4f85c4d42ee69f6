import { expect, test } from 'vitest'
import { ActivityType } from '#shared/contract/activity.ts'
import { activityFilters, matchesFilter } from './activityFilter.ts'

test('assigns every kind of activity to exactly one filter besides all', () => {
  for (const type of ActivityType.options) {
    expect(activityFilters.filter((filter) => matchesFilter(filter, type))).toHaveLength(2)
  }
})
