import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import { installFolder } from '#platform/program/programFile.ts'
import { type Clock, type ClockState, openClock } from '#platform/time/clock.ts'
import { SandboxId } from '#shared/ids.ts'
import { testLedger } from '#test/support/fixtures/testLedger.ts'
import { readPriceList } from './priceList.ts'
import { createSandboxBilling } from './sandboxBilling.ts'

const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs
const startMs = Date.UTC(2026, 0, 10)
const id = SandboxId.parse('ab'.repeat(16))
const prices = readPriceList(join(installFolder, 'resources', 'prices.json'))

let money: Awaited<ReturnType<typeof testLedger>>
let wallMs: number
let runningMs: number
let uptimeMs: number
let state: ClockState | undefined
let clock: Clock
let billing: ReturnType<typeof createSandboxBilling>

beforeEach(async () => {
  money = await testLedger({ cents: 10_000 })
  ;[wallMs, runningMs, uptimeMs, state] = [startMs, 1_000, 1_000, undefined]
  startProcess('boot-1')
})
afterEach(async () => {
  clock.close()
  await money.close()
})

function startProcess(bootId: string): void {
  clock = openClock({
    source: { wallMs: () => wallMs, runningMs: () => runningMs, uptimeMs: () => uptimeMs, bootId },
    store: {
      read: () => state,
      write(next) {
        state = next
      },
    },
    intervalMs: 2 ** 30,
  })
  billing = createSandboxBilling({ ledger: money.store, prices, isCharged: true, clock, log: silentLog })
}
function run(ms: number): void {
  wallMs += ms
  runningMs += ms
  uptimeMs += ms
}
const sandbox = (startedAtMs = startMs) =>
  ({ ...{ id, accountId: money.ada, name: 'one', startedAtMs }, vcpu: 1, memoryMb: 512, diskGb: 1 }) as const
const charges = () =>
  money.database
    .prepare<[], { description: string }>(
      "SELECT description FROM credit_transfers WHERE type = 'sandbox' ORDER BY sequence",
    )
    .all()
    .map(({ description }) => description)

test('charges an hour of running time regardless of clock changes', async () => {
  await billing.begin(sandbox())
  wallMs += yearMs
  run(60_000)
  expect(await billing.charge(sandbox())).toBe(true)
  wallMs -= yearMs
  run(59 * 60_000)
  expect(await billing.charge(sandbox())).toBe(true)
  expect(charges()).toEqual([
    `one: small, 60 s (${yearMs / 1000} s not charged: the clock jumped)`,
    'one: small, 3540 s',
  ])
})

test('continues after the clock is set back', async () => {
  await billing.begin(sandbox())
  run(hourMs)
  await billing.charge(sandbox())
  wallMs -= yearMs
  run(hourMs)
  await billing.charge(sandbox())
  expect(charges()).toEqual(['one: small, 3600 s', 'one: small, 3600 s'])
})

test('does not charge while the computer sleeps', async () => {
  await billing.begin(sandbox())
  wallMs += 8 * hourMs
  uptimeMs += 8 * hourMs
  run(60_000)
  await billing.charge(sandbox())
  expect(charges()).toEqual(['one: small, 60 s (28800 s not charged: the clock jumped)'])
})

test('charges time without a service within one boot but not across boots', async () => {
  await billing.begin(sandbox())
  clock.close()
  run(hourMs)
  startProcess('boot-1')
  await billing.charge(sandbox())
  expect(charges()).toEqual(['one: small, 3600 s'])
  clock.close()
  wallMs += 10 * hourMs
  ;[runningMs, uptimeMs] = [5_000, 5_000]
  startProcess('boot-2')
  run(60_000)
  await billing.charge(sandbox())
  expect(charges().at(-1)).toBe('one: small, 60 s (36000 s not charged: the clock jumped)')
})

test('does not charge the time between two runs', async () => {
  await billing.begin(sandbox())
  run(hourMs)
  await billing.charge(sandbox())
  run(hourMs)
  const second = sandbox(wallMs)
  await billing.begin(second)
  run(60_000)
  await billing.charge(second)
  await billing.begin(second)
  run(60_000)
  await billing.charge(second)
  expect(charges()).toEqual(['one: small, 3600 s', 'one: small, 60 s', 'one: small, 60 s'])
})
