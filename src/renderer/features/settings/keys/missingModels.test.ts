import { expect, test } from 'vitest'
import { findMissingModels } from './missingModels.ts'

test('a key tells which of its models are gone', () => {
  expect(findMissingModels(['kept', 'removed'], ['kept', 'other'])).toEqual(['removed'])
  expect(findMissingModels(['kept'], ['kept'])).toEqual([])
})

test('nothing is missing for a key of all models, or before the models are known', () => {
  expect(findMissingModels(null, [])).toEqual([])
  expect(findMissingModels(['kept'], undefined)).toEqual([])
})
