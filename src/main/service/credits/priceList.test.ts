import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { projectFolder } from '#test/support/fixtures/testProject.ts'
import { computeRunningCost, readPriceList } from './priceList.ts'

const file = join(projectFolder, 'resources/prices.json')
const hourMs = 3_600_000

test('a sandbox is priced by the smallest tier that fits', () => {
  const { getTier } = readPriceList(file)
  expect(getTier({ vcpu: 1, memoryMb: 512, diskGb: 1 }).name).toBe('small')
  expect(getTier({ vcpu: 1, memoryMb: 512, diskGb: 6 }).name).toBe('medium')
  expect(getTier({ vcpu: 2, memoryMb: 512, diskGb: 1 }).name).toBe('large')
  expect(getTier({ vcpu: 4, memoryMb: 8192, diskGb: 50 }).name).toBe('2x-large')
})

test('running time is billed per second and rounded up to whole micro-dollars', () => {
  const tier = readPriceList(file).getTier({ vcpu: 1, memoryMb: 512, diskGb: 1 })
  expect(computeRunningCost(tier, 30 * 24 * hourMs)).toBe(5_000_000)
  expect(computeRunningCost(tier, hourMs)).toBe(6_945)
  expect(computeRunningCost(tier, 1_000)).toBe(2)
  expect([computeRunningCost(tier, 0), computeRunningCost(tier, -5)]).toEqual([0, 0])
})

const tier = { name: 'all', vcpu: 4, memory_mb: 8192, disk_gb: 50, monthly_cents: 4500 }
const payments = [{ amount_usd: 5, credits_cents: 500 }]

test.each([
  ['{', 'JSON'],
  [{ sandbox_tiers: [], payment_tiers: payments }, 'must end with a tier that fits the largest sandbox'],
  [{ sandbox_tiers: [{ ...tier, vcpu: 3 }], payment_tiers: payments }, 'must end with a tier'],
  [{ sandbox_tiers: [{ ...tier, vcpu: 5 }], payment_tiers: payments }, '`sandbox_tiers.0.vcpu`'],
  [{ sandbox_tiers: [tier, { ...tier, vcpu: 1 }], payment_tiers: payments }, 'must be sorted by size, each at least'],
  [{ sandbox_tiers: [{ ...tier, monthly_cents: 0.5 }], payment_tiers: payments }, '`sandbox_tiers.0.monthly_cents`'],
  [{ sandbox_tiers: [tier], payment_tiers: [...payments, ...payments] }, 'must be sorted from small to large'],
  [{ sandbox_tiers: [tier], payment_tiers: payments, more: 1 }, 'more'],
])('an invalid price file stops service startup: %j', (content, reason) => {
  const wrong = join(temporaryFolder('prices'), 'prices.json')
  writeFileSync(wrong, typeof content === 'string' ? content : JSON.stringify(content))
  expect(() => readPriceList(wrong)).toThrow(
    expect.objectContaining({ code: 'config/invalid', message: expect.stringContaining(reason) }),
  )
})
