import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createChainLookup } from '#agent/payments/authorizationLookup.ts'
import { createChainThread } from '#platform/chain/chainThread.ts'
import { silentLog } from '#platform/logging/log.ts'
import { evmNetworks, permit2 } from '#shared/contract/networks.ts'
import type { PaymentId } from '#shared/contract/paymentRecords.ts'
import { eventually } from '../support/assertions/eventually.ts'
import { testDollarAbi } from '../support/contracts/testContracts.ts'
import { createLockableSigner } from '../support/fakes/lockableSigner.ts'
import { uptoMarket } from '../support/fakes/uptoMarket.ts'
import { paymentsOfTest } from '../support/fixtures/openPayments.ts'
import { createEvmNode, type EvmNode } from '../support/processes/evmNode.ts'

/**
 * Payments with `upto` on a real EVM node. The unused amount is never charged, and a signature is valid for one payment
 * only.
 */
const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
/** Third default account of anvil. */
const stranger: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const cap = 1_000_000
const used = 300_000
let node: EvmNode
let market: Awaited<ReturnType<typeof uptoMarket>>
const thread = createChainThread({ log: silentLog })
const chain = () => thread.chain({ network: base, rpcUrl: node.url })
let nowMs = 0

beforeAll(async () => {
  node = await createEvmNode(base)
  market = await uptoMarket(node, { payTo, cap })
})
afterAll(async () => {
  await thread.close()
  await node?.close()
})

const readBalance = async (address: string) =>
  Number(
    await node.client.readContract({
      ...{ address: base.usdc.address, abi: testDollarAbi, functionName: 'balanceOf', args: [address as Address] },
    }),
  )

async function payer({ allowed = true } = {}) {
  nowMs = 0
  const now = () => Date.now() + nowMs
  const signer = createLockableSigner({ now })
  const address = (signer.wallet.accounts().find(({ chainType }) => chainType === 'evm')?.address ?? '') as Address
  const lookup = createChainLookup([chain()], now)
  const paying = paymentsOfTest({
    ...{ now, signer, chain: (authorization) => lookup.findState(authorization) },
    permitAllowance: () => chain().permitAllowance(address),
  })
  await market.fund(address, { allowed })
  const before = await readBalance(address)
  return { ...paying, address, spent: async () => before - (await readBalance(address)) }
}

const settle: typeof market.settle = (...parameters) => market.settle(...parameters)

async function seller(...parameters: Parameters<typeof market.open>) {
  const { url, permits, close } = await market.open(...parameters)
  onTestFinished(close)
  return { url, permits }
}

async function readId(payment: Promise<{ record: { id: PaymentId } } | undefined>): Promise<PaymentId> {
  const paid = await payment
  if (!paid) throw new Error('No payment was required.')
  return paid.record.id
}

test('pays the amount used according to the chain and releases the rest', async () => {
  const { pay, ended, spent, records } = await payer()
  const { url, permits } = await seller((permit) => settle(permit, used))
  const { record } = await ended(await readId(pay(url)))
  expect(record).toMatchObject({
    ...{ state: 'settled', paid: true, scheme: 'upto', amount_micro_usd: cap, paid_micro_usd: used },
    sentence: '0.30 USDC was paid.',
  })
  expect(await spent()).toBe(used)
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: used, reserved: 0 })
  expect(permits).toHaveLength(1)
  expect(permits[0]?.permit2Authorization).toMatchObject({
    spender: permit2.uptoSpender,
    witness: { to: payTo, facilitator: market.facilitator },
  })
})

test('a signature is valid once for this payee, facilitator and amount', async () => {
  const { pay, ended, spent } = await payer()
  const refused: string[] = []
  const { url } = await seller(async (permit) => {
    const attempt = (...how: Parameters<typeof settle>) =>
      settle(...how).then(
        () => void refused.push('it was taken'),
        // Extracts the reason that the contract names from the surrounding text.
        ({ message }: Error) => void refused.push(/\b(amount|signature|nonce)\n/.exec(`${message}\n`)?.[1] ?? message),
      )
    await attempt(permit, cap + 1)
    await attempt(permit, used, stranger)
    await attempt(permit, used, market.facilitator, stranger)
    const hash = await settle(permit, used)
    await attempt(permit, used)
    return hash
  })
  expect((await ended(await readId(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: used })
  expect(refused).toEqual(['amount', 'signature', 'signature', 'nonce'])
  expect(await spent()).toBe(used)
})

test.each<[string, () => Promise<Hex>]>([
  ['that is none', async () => `0x${'ab'.repeat(32)}`],
  [
    'of somebody else',
    () =>
      node.client.writeContract({
        ...{ address: base.usdc.address, abi: testDollarAbi, functionName: 'mint', account: stranger },
        args: [payTo, 5n],
      }),
  ],
])('a seller that names a transaction %s: the full signed amount counts as paid', async (_, named) => {
  const { pay, ended, records } = await payer()
  const { url } = await seller(async (permit) => {
    await settle(permit, cap)
    return named()
  })
  expect((await ended(await readId(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: cap })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: cap, reserved: 0 })
})

test('a seller that names an earlier, smaller payment: the signed amount counts as paid', async () => {
  const { pay, ended, records } = await payer()
  let earlier: Hex | undefined
  const { url } = await seller(async (permit) => {
    const hash = await settle(permit, earlier ? cap / 2 : 1)
    earlier ??= hash
    return earlier
  })
  expect((await ended(await readId(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: 1 })
  expect((await ended(await readId(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: cap })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: cap + 1, reserved: 0 })
})

test('detects an unreported settlement, and a payment never settled counts as unpaid', async () => {
  const { pay, read, engine, records, spent } = await payer()
  const takes = await seller(async (permit) => {
    await settle(permit, used).catch(() => {})
    return undefined
  })
  const accepted = await readId(pay(takes.url))
  await eventually(() => expect(takes.permits.length).toBeGreaterThan(0))
  const never = await readId(pay((await seller(async () => undefined)).url))
  await eventually(() => expect(read(never)?.record.state).toBe('unknown'))
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: 0, reserved: 2 * cap })
  nowMs = 200_000
  await node.client.increaseTime({ seconds: 300 })
  await node.client.mine({ blocks: 1 })
  await eventually(async () => {
    await Promise.all([engine.follow(accepted), engine.follow(never)])
    expect(read(accepted)?.record).toMatchObject({ state: 'reconciled', paid: true, paid_micro_usd: cap })
    expect(read(never)?.record).toMatchObject({ state: 'reconciled', paid: false, paid_micro_usd: 0 })
  })
  expect(records.sum({ sinceMs: 0 })).toEqual({ spent: cap, reserved: 0 })
  expect(await spent()).toBe(used)
})

test('signs nothing without an allowance for Permit2 and reports what to do', async () => {
  const { pay } = await payer({ allowed: false })
  const { url, permits } = await seller((permit) => settle(permit, used))
  await expect(pay(url)).rejects.toMatchObject({
    code: 'purchase/allowance',
    message: expect.stringContaining('1.00 USDC'),
  })
  expect(permits).toEqual([])
})

test.each<[string, object, RegExp]>([
  ['names nobody who settles', { extra: {} }, /has no facilitator/],
  [
    'wants another way',
    { extra: { facilitatorAddress: stranger, assetTransferMethod: 'eip3009' } },
    /only with Permit2/,
  ],
  [
    'is of the ledger of test money',
    { network: 'eip155:31337', asset: `0x7357${'0'.repeat(31)}31337` },
    /does not support “upto” on/,
  ],
])('rejects an offer with the reason: it %s', async (_, over, why) => {
  const { pay } = await payer()
  const { url } = await seller(async () => undefined, over)
  await expect(pay(url)).rejects.toThrow(why)
})
