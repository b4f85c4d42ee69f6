import { expect, test } from 'vitest'
import type { SandboxStatus } from '#shared/contract/sandboxes.ts'
import { describeUnenforced, formatResources, getStatusLabel, getStatusTone } from './sandboxLabels.ts'

test('formats the resources of a sandbox', () => {
  expect(formatResources({ vcpu: 1, memory_mb: 512, disk_gb: 1 })).toBe('1 vCPU · 512 MB · 1 GB')
  expect(formatResources({ vcpu: 4, memory_mb: 8192, disk_gb: 50 })).toBe('4 vCPU · 8 GB · 50 GB')
})

test('lists the limits that are not enforced', () => {
  const all = { memory: true, cpu: true, disk: true, processes: true }
  expect(describeUnenforced(all)).toBeUndefined()
  expect(describeUnenforced({ ...all, disk: false })).toBe('disk')
  expect(describeUnenforced({ ...all, cpu: false, memory: false, processes: false })).toBe(
    'vCPU, memory and number of processes',
  )
})

test('shows a status from another version as plain text', () => {
  const status = 'being-moved' as SandboxStatus
  expect([getStatusLabel(status), getStatusTone(status)]).toEqual(['Being moved', 'neutral'])
})
