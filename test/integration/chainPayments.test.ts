import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { evmNetworks } from '../../src/shared/contract/networks.ts'
import { type ConwayTerminal, conwayTerminal } from '../support/conwayTerminal.ts'
import { eventually } from '../support/eventually.ts'
import { evmFacilitator } from '../support/evmFacilitator.ts'
import { lowerCase, type Payer, payer, paymentHeader } from '../support/payer.ts'
import type { Json } from '../support/runningService.ts'
import { type ServiceProcess, serviceProcess } from '../support/serviceProcess.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'
import { evmWallet } from '../support/wallets.ts'

/** A service as a process of its own, which sells on a real EVM node: clients of others pay, and it is killed at any moment. */
const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
const price = 5_000_000
let chain: Awaited<ReturnType<typeof evmFacilitator>>
let service: ServiceProcess
const wallet = evmWallet()
let path: string

beforeAll(async () => {
  chain = await evmFacilitator(base)
  const keyFile = join(temporaryFolder('relayer'), 'relayer.key')
  writeFileSync(keyFile, `${chain.relayerKey}\n`, { mode: 0o600 })
  service = await serviceProcess(undefined, {
    payments: { network: 'base', pay_to: payTo, facilitator: { rpc_url: chain.node.url, relayer_key_file: keyFile } },
  })
  await wallet.signIn(service.url)
  path = `/pay/5/${wallet.address}`
})
afterAll(async () => {
  await service?.close()
  await chain?.close()
})

async function rich(): Promise<Payer> {
  const one = payer(base)
  await chain.give(one.address, 2 * price)
  return one
}
const headerOf = async (one: Payer, version: 1 | 2 = 2) =>
  paymentHeader(version, await one.authorize({ to: payTo, value: String(price) }), {
    network: version === 1 ? 'base' : base.id,
    asset: base.usdc.address,
  })
const pay = (headers: Record<string, string>) => service.send(path, { key: null, headers })
const creditsOf = async (who = wallet) =>
  (await service.send('/v1/credits/balance', { key: (await who.signIn(service.url)).json.access_token })).json
    .balance_cents

test('@x402/fetch buys credits, and balances move by the exact amount', async () => {
  const ada = await rich()
  const [paid, credited] = [await chain.balance(payTo), await creditsOf()]
  const fetching = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network: base.id, client: new ExactEvmScheme(ada.account) }],
    spendControls: false, // it is more than it pays by itself
  })
  const answer = await fetching(`${service.url}${path}`)
  expect([answer.status, ((await answer.json()) as Json).credits_cents]).toEqual([200, 500])
  expect([await chain.balance(ada.address), (await chain.balance(payTo)) - paid]).toEqual([price, price])
  expect((await creditsOf()) - credited).toBe(500)
})

test('a published client of version 1 buys credits by its own tool', async () => {
  const program: ConwayTerminal = conwayTerminal({ home: temporaryFolder('conway-home'), serviceUrl: service.url })
  const { walletAddress, apiKey } = await program.provision()
  await chain.give(walletAddress, price)
  const tools = await program.connect()
  try {
    const answer = JSON.parse(await tools.call('credits_topup', { amount_usd: 5 }))
    expect(answer).toMatchObject({ success: true, credits_cents: 500, recipient_address: walletAddress })
    expect(await chain.balance(walletAddress)).toBe(0)
    expect((await service.send('/v1/credits/balance', { key: apiKey })).json.balance_cents).toBe(500)
  } finally {
    await tools.close()
  }
})

test('version 1 with the name of the network, and a payment that was used on the chain before', async () => {
  const ada = await rich()
  expect((await pay(await headerOf(ada, 1))).status).toBe(200)
  const authorization = lowerCase(await ada.authorize({ to: payTo, value: String(price) }))
  const { state } = await chain.facilitator.settle({ authorization, createdAtMs: Date.now(), again: false })
  expect(state).toBe('settled')
  const used = await pay(paymentHeader(2, authorization, { network: base.id, asset: base.usdc.address }))
  expect([used.status, used.json.reason]).toEqual([402, 'invalid_exact_evm_nonce_already_used'])
})

test('killed while the chain has the transaction: settled, credited once, and answered to the same payment', async () => {
  const ada = await rich()
  const credited = await creditsOf()
  const header = await headerOf(ada)
  await chain.node.client.setAutomine(false)
  const cut = pay(header).catch(() => undefined)
  await eventually(async () => {
    const { pending } = await chain.node.client.getTxpoolStatus()
    expect(Number(pending)).toBe(1)
  })
  await service.restart('SIGKILL')
  await cut
  await chain.node.client.mine({ blocks: 1 })
  await chain.node.client.setAutomine(true)
  await eventually(async () => expect((await pay(header)).status).toBe(200))
  expect(await chain.balance(ada.address)).toBe(price)
  expect((await creditsOf()) - credited).toBe(500)
})

test('killed at any moment of many payments: each is settled once and credited once', async () => {
  const credited = await creditsOf()
  const payers: Payer[] = []
  for (let count = 0; count < 8; count++) payers.push(await rich())
  const headers = await Promise.all(payers.map((one) => headerOf(one)))
  for (let round = 0; round < 3; round++) {
    const sent = headers.map((header) => pay(header).catch(() => undefined))
    await Promise.race(sent)
    await service.restart('SIGKILL')
    await Promise.all(sent)
  }
  for (const header of headers) await eventually(async () => expect((await pay(header)).status).toBe(200))
  for (const one of payers) expect(await chain.balance(one.address)).toBe(price)
  expect((await creditsOf()) - credited).toBe(8 * 500)
})
