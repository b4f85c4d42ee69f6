import { expect, test } from 'vitest'
import type { Domain } from '#shared/contract/domains.ts'
import { runBulk } from './bulkRun.ts'
import { formatDomainsCsv } from './domainsCsv.ts'

const names = Array.from({ length: 10 }, (_, at) => `n${at}.com`)

test('applies an action to every domain and names those that failed', async () => {
  const counts: number[] = []
  const { done, failures } = await runBulk(
    names,
    async (domain) => {
      if (domain === 'n3.com') throw new Error('no')
    },
    { isStopped: () => false, onProgress: (progress) => counts.push(progress.done) },
  )
  expect([done, failures.map(({ domain }) => domain)]).toEqual([10, ['n3.com']])
  expect(counts).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
})

test('starts no further domain after it is stopped', async () => {
  let isStopped = false
  const { done } = await runBulk(
    names,
    async () => {
      isStopped = true
    },
    { isStopped: () => isStopped, onProgress: () => {} },
  )
  expect(done).toBeLessThan(5)
})

test('escapes formulas in the CSV export of domains', () => {
  const domain = {
    ...{
      domain: '=x.com',
      unicode: '=x.com',
      status: 'active',
      registrar: 'Test, "registry"',
      nameservers: ['a', 'b'],
    },
    ...{ registered_at: '2026', expires_at: '2027', privacy: true, locked: false, auto_renew: false },
  } as unknown as Domain
  expect(formatDomainsCsv([domain]).split('\r\n')[1]).toBe(
    `'=x.com,'=x.com,active,2026,2027,yes,no,no,"Test, ""registry""",a b`,
  )
})
