import { afterAll, beforeAll, expect, test } from 'vitest'
import { secondAccount } from '../support/fixtures/secondAccount.ts'
import { seedHold } from '../support/fixtures/seedCharge.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'

/** The service is killed during credit transfers. */
let service: ServiceProcess
let ada: { accountId: string; key: string }

beforeAll(async () => {
  service = await createServiceProcess()
  ada = secondAccount(service.dataDir)
})
afterAll(() => service?.close())

const balance = async (key = service.key) => (await service.send('/v1/credits/balance', { key })).json
const give = (name: string) =>
  service.send('/v1/credits/transfer', {
    body: { to_address: ada.accountId, amount_cents: 1, note: name },
    headers: { 'idempotency-key': name },
  })

test('repeated transfers interrupted by kill -9 happen exactly once', async () => {
  const names = Array.from({ length: 120 }, (_, number) => `gift ${number}`)
  const first = names.map((name) => give(name).catch(() => undefined))
  await Promise.race(first)
  await service.restart('SIGKILL')
  const heard = (await Promise.all(first)).filter((answer) => answer?.status === 200)
  const { balance_cents: balanceCents } = await balance(ada.key)
  expect(balanceCents).toBeGreaterThanOrEqual(heard.length)

  const again = await Promise.all(names.map(give))
  expect(again.map(({ status }) => status)).toEqual(names.map(() => 200))
  expect(await balance(ada.key)).toMatchObject({ balance_cents: 120, held_cents: 0 })
  expect(await balance()).toMatchObject({ balance_cents: 880 })
  for (const answer of heard) {
    const repeated = again.find(({ json }) => json.transfer_id === answer?.json.transfer_id)
    expect(repeated?.json).toEqual(answer?.json)
  }
  const { json } = await service.send('/v1/credits/history?limit=100', { key: ada.key })
  expect(json.total).toBe(120)
  expect(json.transactions[0].balance_after_cents).toBe(120)
})

test('charges a hold once after the service was killed, regardless of later kills', async () => {
  const { balance_cents: before } = await balance()
  const ownerId = (await service.send('/v1/auth/me')).json.id
  seedHold(service.dataDir, { accountId: ownerId, cents: 40 })
  expect(await balance()).toMatchObject({ balance_cents: before, held_cents: 40 })
  for (const signal of ['SIGKILL', 'SIGKILL', 'SIGTERM'] as const) {
    await service.restart(signal)
    expect(await balance()).toMatchObject({ balance_cents: before - 40, held_cents: 0 })
  }
})
