import { expect, test } from 'vitest'
import { findMissingModels } from './missingModels.ts'

test('lists the removed models of a key', () => {
  expect(findMissingModels(['kept', 'removed'], ['kept', 'other'])).toEqual(['removed'])
  expect(findMissingModels(['kept'], ['kept'])).toEqual([])
})

test('reports no missing models for an unrestricted key or before models are loaded', () => {
  expect(findMissingModels(null, [])).toEqual([])
  expect(findMissingModels(['kept'], undefined)).toEqual([])
})
