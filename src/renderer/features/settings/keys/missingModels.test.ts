import { expect, test } from 'vitest'
import { missingModels } from './missingModels.ts'

test('a key tells which of its models are gone', () => {
  expect(missingModels(['kept', 'removed'], ['kept', 'other'])).toEqual(['removed'])
  expect(missingModels(['kept'], ['kept'])).toEqual([])
})

test('nothing is missing for a key of all models, or before the models are known', () => {
  expect(missingModels(null, [])).toEqual([])
  expect(missingModels(['kept'], undefined)).toEqual([])
})
