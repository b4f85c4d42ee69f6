import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createChainLookup } from '#agent/payments/authorizationLookup.ts'
import { createPublicSeller, type Seller } from '#agent/payments/seller.ts'
import type { PaymentAuthorization } from '#service/payments/paymentAuthorization.ts'
import { evmNetworks } from '#shared/contract/networks.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { lowerCase } from '../support/clients/payer.ts'
import { evmWallet } from '../support/clients/wallets.ts'
import { evmFacilitator } from '../support/fakes/evmFacilitator.ts'
import { hostileSeller } from '../support/fakes/hostileSeller.ts'
import { createLockableSigner } from '../support/fakes/lockableSigner.ts'
import { script } from '../support/fixtures/approvals.ts'
import { paymentsOfTest } from '../support/fixtures/openPayments.ts'
import { temporaryFolder } from '../support/fixtures/temporaryFolder.ts'
import { createServiceProcess, type ServiceProcess } from '../support/processes/serviceProcess.ts'
import { realRegistrar } from '../support/registrars/realRegistrar.ts'

/** The agent pays on a real EVM node. It buys, and reads from the chain what the seller does not report. */
const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
const price = 5_000_000
let chain: Awaited<ReturnType<typeof evmFacilitator>>
let service: ServiceProcess
let registrar: Awaited<ReturnType<typeof realRegistrar>>
let nowMs = 0
const wallet = evmWallet()

beforeAll(async () => {
  chain = await evmFacilitator(base)
  registrar = await realRegistrar()
  const keyFile = join(temporaryFolder('relayer'), 'relayer.key')
  writeFileSync(keyFile, `${chain.relayerKey}\n`, { mode: 0o600 })
  service = await createServiceProcess(undefined, {
    payments: { network: 'base', pay_to: payTo, facilitator: { rpc_url: chain.node.url, relayer_key_file: keyFile } },
    domains: registrar.config,
  })
  await wallet.signIn(service.url)
})
afterAll(async () => {
  await service?.close()
  await registrar?.close()
  await chain?.close()
})

async function rich(seller?: Seller) {
  nowMs = 0
  const now = () => Date.now() + nowMs
  const lookup = createChainLookup([chain.chain], now)
  const readState: typeof lookup.findState = (authorization) => lookup.findState(authorization)
  const paying = paymentsOfTest({
    now,
    signer: createLockableSigner({ now }),
    chain: readState,
    ...(seller && { seller }),
  })
  const address = paying.signer.wallet.accounts().find(({ chainType }) => chainType === 'evm')?.address ?? ''
  const before = await chain.balance(address)
  await chain.give(address, 2 * price)
  return { ...paying, address, spent: async () => before + 2 * price - (await chain.balance(address)) }
}
type Paying = Awaited<ReturnType<typeof rich>>

async function readId(payment: ReturnType<Paying['pay']>): Promise<PaymentId> {
  const paid = await payment
  if (!paid) throw new Error('No payment was required.')
  return paid.record.id
}

test('buys credits and changes the balance by the exact amount', async () => {
  const { pay, ended, spent } = await rich()
  const id = await readId(pay(`${service.url}/pay/5/${wallet.address}`))
  const paid = await ended(id)
  expect(paid.record).toMatchObject({ state: 'settled', paid: true, network: base.id, test: false })
  expect(paid.record.transaction_url).toBe(`https://basescan.org/tx/${paid.record.transaction}`)
  expect(await spent()).toBe(price)
})

/** Creates a buyer of domains that uses an account of the service. */
async function domainBuyer() {
  const plain = createPublicSeller({ deadlineMs: 5_000 })
  onTestFinished(() => plain.close())
  // The key is added on sending, as for the agent's own service. It is never stored with the payment.
  const withKey: Seller = {
    ...plain,
    ask: (request, signal) =>
      plain.ask({ ...request, headers: { ...request.headers, 'x-api-key': service.key } }, signal),
  }
  const { engine, createRequest, ended, spent, address } = await rich(withKey)
  await chain.give(address, 4 * price)
  const url = `${service.url}/domains/register`
  return {
    async buy(domain: string) {
      const headers = { 'content-type': 'application/json' }
      const request = { method: 'POST', url, headers, body: JSON.stringify({ domain }) }
      const call = {
        requester: script,
        repeatable: undefined,
        setHeader: () => {},
        signal: new AbortController().signal,
      }
      const want = async () => ({ ...createRequest(url, 20), request })
      const { payment } = await engine.payments.buy(want, call, { reason: undefined, waitMs: 0 })
      if (!payment) throw new Error('No payment was required.')
      return async () => (await ended(payment.record.id)).record
    },
    spent: async () => (await spent()) + 4 * price,
  }
}
const listOwnedDomains = async (): Promise<string[]> =>
  (await service.send('/domains')).json.domains.map(({ domain }: { domain: string }) => domain)

test('buys a domain and changes the balance by the exact amount', async () => {
  const { buy, spent } = await domainBuyer()
  expect(await (await buy('agent-1.com'))()).toMatchObject({ state: 'settled', paid: true, network: base.id })
  expect(await spent()).toBe(13_950_000)
  expect(await listOwnedDomains()).toEqual(['agent-1.com'])
})

test('charges only one of two concurrent requests for the same domain', async () => {
  const { buy, spent } = await domainBuyer()
  const begun = await Promise.all([buy('agent-2.com'), buy('agent-2.com')])
  const ended = await Promise.all(begun.map((end) => end()))
  expect(ended.map(({ state }) => state).sort()).toEqual(['refused', 'settled'])
  expect(ended.find(({ state }) => state === 'refused')?.error).toContain('agent-2.com')
  expect(await spent()).toBe(13_950_000)
  expect((await listOwnedDomains()).filter((name) => name === 'agent-2.com')).toHaveLength(1)
})

test('delivers the domain once if the service is killed between settlement and registration', async () => {
  const { buy, spent } = await domainBuyer()
  await chain.node.client.setAutomine(false)
  const end = await buy('agent-3.com')
  await eventually(async () => expect((await chain.node.client.getTxpoolContent()).pending).not.toEqual({}))
  await service.restart('SIGKILL')
  await chain.node.client.setAutomine(true)
  await chain.node.client.mine({ blocks: 1 })
  expect(await end()).toMatchObject({ state: 'settled', paid: true })
  expect(await spent()).toBe(13_950_000)
  expect((await listOwnedDomains()).filter((name) => name === 'agent-3.com')).toHaveLength(1)
})

test('settles once and completes the payment if the service is killed during settlement', async () => {
  const { pay, ended, spent } = await rich()
  await chain.node.client.setAutomine(false)
  const id = await readId(pay(`${service.url}/pay/5/${wallet.address}`))
  await eventually(async () => expect((await chain.node.client.getTxpoolContent()).pending).not.toEqual({}))
  await service.restart('SIGKILL')
  await chain.node.client.setAutomine(true)
  await chain.node.client.mine({ blocks: 1 })
  expect((await ended(id)).record).toMatchObject({ state: 'settled', paid: true })
  expect(await spent()).toBe(price)
})

/** Accepts payments and never responds. */
async function createSilentSeller() {
  return hostileSeller(({ request }) => void request.socket.destroy(), {
    ...{ maxAmountRequired: String(price), payTo, maxTimeoutSeconds: 60 },
  })
}
function parseAuthorization(header: string): PaymentAuthorization {
  const { signature, authorization } = JSON.parse(Buffer.from(header, 'base64').toString()).payload
  return lowerCase({ ...authorization, signature })
}

test('finds a payment on the chain if the seller settles it without responding', async () => {
  const { pay, read, engine, records, spent } = await rich()
  const seller = await createSilentSeller()
  const id = await readId(pay(seller.url))
  await eventually(() => expect(seller.payments().length).toBeGreaterThan(0))
  const authorization = parseAuthorization(seller.payments()[0] ?? '')
  const settled = await chain.facilitator.settle({ authorization, createdAtMs: Date.now(), again: false })
  expect(settled.state).toBe('settled')
  nowMs = 120_000
  await eventually(async () => {
    await engine.follow(id)
    expect(read(id)?.record.paid).toBe(true)
  })
  const transaction = settled.state === 'settled' ? settled.transaction : ''
  expect(read(id)?.record).toMatchObject({ state: 'reconciled', reconciled_by: 'chain', transaction })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: price, reserved: 0 })
  expect([await spent(), seller.signatures()]).toEqual([price, 1])
})

test('reads the chain time from the newest block', async () => {
  const block = await chain.node.client.getBlock()
  expect(await chain.chain.blockTimeMs()).toBe(Number(block.timestamp) * 1000)
})

test('reports an unsettled payment as unpaid only after it has expired on the chain', async () => {
  const { pay, read, engine, records, spent } = await rich()
  const seller = await createSilentSeller()
  const id = await readId(pay(seller.url))
  await eventually(() => expect(read(id)?.record.state).toBe('unknown'))
  nowMs = 200_000
  await eventually(async () => {
    await engine.follow(id)
    expect(read(id)?.nextAtMs).toBeGreaterThan(Date.now() + nowMs)
  })
  expect(read(id)?.record).toMatchObject({ state: 'unknown', paid: null })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: price })
  await chain.node.client.increaseTime({ seconds: 300 })
  await chain.node.client.mine({ blocks: 1 })
  await eventually(async () => {
    await engine.follow(id)
    expect(read(id)?.record).toMatchObject({ state: 'reconciled', paid: false })
  })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 0 })
  expect(await spent()).toBe(0)
})
