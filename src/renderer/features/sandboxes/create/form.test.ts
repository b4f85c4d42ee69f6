import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { emptyForm, findRuntime, toCreateInput, toFieldErrors, validateInput } from './form.ts'

test('omits an empty name and trims other names', () => {
  expect(toCreateInput(emptyForm)).toEqual({ vcpu: 1, memory_mb: 512, disk_gb: 1, region: 'eu-north' })
  expect(toCreateInput({ ...emptyForm, name: ' box ' })).toMatchObject({ name: 'box' })
})

test('reports validation errors of the service field by field', () => {
  expect(validateInput(toCreateInput({ ...emptyForm, name: 'box' }))).toEqual({})
  expect(validateInput(toCreateInput({ ...emptyForm, name: 'x'.repeat(65), vcpu: 9 }))).toEqual({
    name: 'Must have at most 64 characters.',
    vcpu: 'Must be a whole number from 1 to 4.',
  })
})

test('shows a refusal at the field that it names', () => {
  const refusal = new AppError('request/invalid', '`memory_mb` must be a whole number from 512 to 8192.')
  expect(toFieldErrors(refusal)).toEqual({ memory_mb: 'Must be a whole number from 512 to 8192.' })
  expect(toFieldErrors(new AppError('runtime/unavailable', 'bubblewrap is missing.'))).toEqual({
    runtime: 'bubblewrap is missing.',
  })
  expect(toFieldErrors(new AppError('sandbox/capacity', 'No capacity'))).toBeUndefined()
  expect(toFieldErrors(new AppError('request/invalid', '`other` must not be.'))).toBeUndefined()
  expect(toFieldErrors(new Error('no network'))).toBeUndefined()
})

test('selects the first available runtime unless one is named', () => {
  const enforced = { memory: true, cpu: true, disk: true, processes: true }
  const report = {
    ...{ enforced, cure: null, limit_gaps: [], networks: [], network_detail: null, network_cure: null },
    ...{ images: false, image_sources: [], image_detail: null },
  }
  const broken = { ...report, name: 'docker', available: false, detail: 'No socket.' }
  const works = { ...report, name: 'bubblewrap', available: true, detail: '0.8' }
  expect(findRuntime([broken, works], undefined)).toBe(works)
  expect(findRuntime([broken, works], 'docker')).toBe(broken)
  expect(findRuntime([broken], undefined)).toBeUndefined()
})
