import { expect, test } from 'vitest'
import { createUnsavedMarks } from './unsavedMarks.ts'

test('reports unsaved changes as lost only when leaving their route', () => {
  const marks = createUnsavedMarks()
  expect([marks.any(), marks.loses('#/wallet')]).toEqual([false, false])
  marks.put('files', ['terminals'])
  expect(marks.loses('#/terminals/another')).toBe(false)
  expect(marks.loses('#/wallet')).toBe(true)
  marks.put('policy', ['settings', 'policies'])
  expect(marks.loses('#/settings/policies')).toBe(true) // because of `files`
  marks.remove('files')
  expect(marks.loses('#/settings/policies')).toBe(false)
  expect(marks.loses('#/settings/keys')).toBe(true)
  expect(marks.loses('')).toBe(true)
  const discarded: string[] = []
  marks.put('draft', ['terminals'], () => discarded.push('draft'))
  marks.discard()
  expect(discarded).toEqual(['draft'])
  expect(marks.any()).toBe(false)
})
