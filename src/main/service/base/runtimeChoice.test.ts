import { expect, test } from 'vitest'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'
import { chooseNetwork, chooseRuntime } from './runtimeChoice.ts'

const enforced = { memory: true, cpu: true, disk: true, processes: true }
const report = (name: string, available: boolean): RuntimeReport => ({
  name,
  available,
  detail: `About ${name}.`,
  enforced,
  cure: null,
  limit_gaps: [],
  networks: ['none'],
  network_cure: null,
  network_detail: null,
  image_sources: [],
  image_detail: null,
})
const reports = [report('a', false), report('b', true), report('c', true)]
const order = ['a', 'b', 'c']

test('selects the first available runtime in the configured order', () => {
  expect(chooseRuntime({ requested: undefined, order, reports }).name).toBe('b')
  expect(chooseRuntime({ requested: undefined, order: ['c', 'b'], reports }).name).toBe('c')
})

test('selects the requested runtime or reports why it is unavailable', () => {
  expect(chooseRuntime({ requested: 'c', order, reports }).name).toBe('c')
  expect(() => chooseRuntime({ requested: 'a', order, reports })).toThrow(
    expect.objectContaining({ code: 'runtime/unavailable', message: 'The runtime a cannot be used: About a.' }),
  )
  expect(() => chooseRuntime({ requested: 'd', order, reports })).toThrow(
    expect.objectContaining({
      code: 'runtime/unknown',
      message: '`d` is not a runtime of this service. Available runtimes: `a`, `b`, `c`.',
    }),
  )
})

test('names the deficiency of the preferred runtime when none is available', () => {
  expect(() => chooseRuntime({ requested: undefined, order: ['a'], reports })).toThrow('About a.')
  expect(() => chooseRuntime({ requested: undefined, order: [], reports })).toThrow('No runtime is configured.')
})

test('a sandbox defaults to internet access if supported, other networks must be configured', () => {
  expect(chooseNetwork('auto', { networks: ['none', 'internet', 'open'] })).toBe('internet')
  expect(chooseNetwork('auto', { networks: ['none', 'open'] })).toBe('none')
  expect(chooseNetwork('open', { networks: ['none'] })).toBe('open')
  expect(chooseNetwork('none', { networks: ['none', 'internet'] })).toBe('none')
})
