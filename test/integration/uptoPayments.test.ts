import { createServer } from 'node:http'
import { x402UptoPermit2ProxyABI as proxyAbi } from '@x402/evm'
import type { Address, Hex } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { chainLookup } from '../../src/main/agent/payments/authorizationLookup.ts'
import { chainThread } from '../../src/main/platform/chain/chainThread.ts'
import { silentLog } from '../../src/main/platform/log.ts'
import { evmNetworks, permit2 } from '../../src/shared/contract/networks.ts'
import type { PaymentId } from '../../src/shared/contract/paymentRecords.ts'
import { testContracts, testDollarAbi } from '../support/contracts/testContracts.ts'
import { eventually } from '../support/eventually.ts'
import { type EvmNode, evmNode } from '../support/evmNode.ts'
import { listening } from '../support/listening.ts'
import { lockableSigner } from '../support/lockableSigner.ts'
import { paymentsOfTest } from '../support/openPayments.ts'

/** Payments of `upto` on a real EVM node: what was not used is never taken, and what was signed fits one payment alone. */
const [base] = evmNetworks
const payTo = '0x2222222222222222222222222222222222222222'
/** The second and third of anvil's own accounts. */
const facilitator: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const stranger: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const cap = 1_000_000
const used = 300_000
let node: EvmNode
const thread = chainThread({ log: silentLog })
const chain = () => thread.chain({ network: base, rpcUrl: node.url })
let nowMs = 0

beforeAll(async () => {
  node = await evmNode(base)
  const { TestPermit2, TestUptoProxy } = testContracts()
  await node.deploy(permit2.address, TestPermit2)
  await node.deploy(permit2.uptoSpender, TestUptoProxy)
})
afterAll(async () => {
  await thread.close()
  await node?.close()
})

const balanceOf = async (address: string) =>
  Number(
    await node.client.readContract({
      ...{ address: base.usdc.address, abi: testDollarAbi, functionName: 'balanceOf', args: [address as Address] },
    }),
  )

async function payer({ allowed = true } = {}) {
  nowMs = 0
  const now = () => Date.now() + nowMs
  const signer = lockableSigner({ now })
  const address = (signer.wallet.accounts().find(({ chainType }) => chainType === 'evm')?.address ?? '') as Address
  const lookup = chainLookup([chain()], now)
  const paying = paymentsOfTest({
    ...{ now, signer, chain: (asked) => lookup.stateOf(asked) },
    permitAllowance: () => chain().permitAllowance(address),
  })
  await node.mint(address, BigInt(cap))
  await node.setEther(address, 10n ** 18n)
  await node.client.impersonateAccount({ address })
  const hash = await node.client.writeContract({
    ...{ address: base.usdc.address, abi: testDollarAbi, functionName: 'approve', account: address },
    args: [permit2.address, allowed ? 10n ** 12n : 0n],
  })
  await node.client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  const before = await balanceOf(address)
  return { ...paying, address, spent: async () => before - (await balanceOf(address)) }
}

type Permit = {
  signature: Hex
  permit2Authorization: {
    from: Address
    permitted: { token: Address; amount: string }
    spender: Address
    nonce: string
    deadline: string
    witness: { to: Address; facilitator: Address; validAfter: string }
  }
}

/** As a facilitator settles, by the contract's published interface. */
async function settle(
  { signature, permit2Authorization: it }: Permit,
  amount: number,
  by = facilitator,
  to = it.witness.to,
) {
  const call = {
    ...({ address: permit2.uptoSpender, abi: proxyAbi, functionName: 'settle', account: by } as const),
    args: [
      {
        permitted: { token: it.permitted.token, amount: BigInt(it.permitted.amount) },
        ...{ nonce: BigInt(it.nonce), deadline: BigInt(it.deadline) },
      },
      BigInt(amount),
      it.from,
      { to, facilitator: by === facilitator ? it.witness.facilitator : by, validAfter: BigInt(it.witness.validAfter) },
      signature,
    ],
  } as const
  await node.client.simulateContract(call) // it tells why it would be refused
  const hash = await node.client.writeContract(call)
  await node.client.waitForTransactionReceipt({ hash, pollingInterval: 20 })
  return hash
}

/** Sells by `upto`. @param answer what it does with a payment: a transaction hash is told, undefined ends the connection */
async function seller(answer: (permit: Permit) => Promise<Hex | undefined>, over: object = {}) {
  const permits: Permit[] = []
  const server = createServer(async (request, response) => {
    const header = request.headers['payment-signature']
    if (header === undefined) {
      const offer = { scheme: 'upto', network: base.id, amount: String(cap), asset: base.usdc.address, payTo }
      const extra = { facilitatorAddress: facilitator, assetTransferMethod: 'permit2' }
      const accepts = [{ ...offer, maxTimeoutSeconds: 60, extra, ...over }]
      const demand = { x402Version: 2, resource: { url: 'http://127.0.0.1/' }, accepts }
      const told = Buffer.from(JSON.stringify(demand)).toString('base64')
      return void response.writeHead(402, { 'payment-required': told }).end('{}')
    }
    const { payload } = JSON.parse(Buffer.from(String(header), 'base64').toString())
    permits.push(payload)
    const transaction = await answer(payload).catch(() => undefined)
    if (transaction === undefined) return void response.destroy()
    const receipt = { success: true, transaction, network: base.id, amount: '1' }
    response.writeHead(200, { 'payment-response': Buffer.from(JSON.stringify(receipt)).toString('base64') }).end('done')
  })
  const { url, close } = await listening(server)
  onTestFinished(close)
  return { url, permits }
}

async function idOf(payment: Promise<{ record: { id: PaymentId } } | undefined>): Promise<PaymentId> {
  const paid = await payment
  if (!paid) throw new Error('It was free.')
  return paid.record.id
}

test('what was used is paid, by the word of the chain, and the rest is free again', async () => {
  const { pay, ended, spent, records } = await payer()
  const { url, permits } = await seller((permit) => settle(permit, used))
  const { record } = await ended(await idOf(pay(url)))
  expect(record).toMatchObject({
    ...{ state: 'settled', paid: true, scheme: 'upto', amount_micro_usd: cap, paid_micro_usd: used },
    sentence: '0.30 USDC was paid.',
  })
  expect(await spent()).toBe(used)
  expect(records.used({ sinceMs: 0 })).toEqual({ spent: used, held: 0 })
  expect(permits).toHaveLength(1)
  expect(permits[0]?.permit2Authorization).toMatchObject({
    spender: permit2.uptoSpender,
    witness: { to: payTo, facilitator },
  })
})

test('what is signed is good for this payee, facilitator and amount, once', async () => {
  const { pay, ended, spent } = await payer()
  const refused: string[] = []
  const { url } = await seller(async (permit) => {
    const attempt = (...how: Parameters<typeof settle>) =>
      settle(...how).then(
        () => void refused.push('it was taken'),
        // Of whatever is said around it, the reason that the contract gives.
        ({ message }: Error) => void refused.push(/\b(amount|signature|nonce)\n/.exec(`${message}\n`)?.[1] ?? message),
      )
    await attempt(permit, cap + 1)
    await attempt(permit, used, stranger)
    await attempt(permit, used, facilitator, stranger)
    const hash = await settle(permit, used)
    await attempt(permit, used)
    return hash
  })
  expect((await ended(await idOf(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: used })
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
])('a seller that names a transaction %s: all that was signed counts as paid', async (_, named) => {
  const { pay, ended, records } = await payer()
  const { url } = await seller(async (permit) => {
    await settle(permit, cap)
    return named()
  })
  expect((await ended(await idOf(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: cap })
  expect(records.used({ sinceMs: 0 })).toEqual({ spent: cap, held: 0 })
})

test('a seller that names the transaction of an earlier, smaller payment: all that was signed counts as paid', async () => {
  const { pay, ended, records } = await payer()
  let earlier: Hex | undefined
  const { url } = await seller(async (permit) => {
    const hash = await settle(permit, earlier ? cap / 2 : 1)
    earlier ??= hash
    return earlier
  })
  expect((await ended(await idOf(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: 1 })
  expect((await ended(await idOf(pay(url)))).record).toMatchObject({ state: 'settled', paid_micro_usd: cap })
  expect(records.used({ sinceMs: 0 })).toEqual({ spent: cap + 1, held: 0 })
})

test('a seller that takes it and says nothing is found out; one that never takes it was not paid', async () => {
  const { pay, read, engine, records, spent } = await payer()
  const takes = await seller(async (permit) => {
    await settle(permit, used).catch(() => {})
    return undefined
  })
  const taken = await idOf(pay(takes.url))
  await eventually(() => expect(takes.permits.length).toBeGreaterThan(0))
  const never = await idOf(pay((await seller(async () => undefined)).url))
  await eventually(() => expect(read(never)?.record.state).toBe('unknown'))
  expect(records.used({ sinceMs: 0 })).toEqual({ spent: 0, held: 2 * cap })
  nowMs = 200_000
  await node.client.increaseTime({ seconds: 300 })
  await node.client.mine({ blocks: 1 })
  await eventually(async () => {
    await Promise.all([engine.follow(taken), engine.follow(never)])
    expect(read(taken)?.record).toMatchObject({ state: 'reconciled', paid: true, paid_micro_usd: cap })
    expect(read(never)?.record).toMatchObject({ state: 'reconciled', paid: false, paid_micro_usd: 0 })
  })
  expect(records.used({ sinceMs: 0 })).toEqual({ spent: cap, held: 0 })
  expect(await spent()).toBe(used)
})

test('without an allowance for Permit2 nothing is signed, and it says what to do', async () => {
  const { pay } = await payer({ allowed: false })
  const { url, permits } = await seller((permit) => settle(permit, used))
  await expect(pay(url)).rejects.toMatchObject({
    code: 'payment/allowance',
    message: expect.stringContaining('1.00 USDC'),
  })
  expect(permits).toEqual([])
})

test.each<[string, object, RegExp]>([
  ['names nobody who settles', { extra: {} }, /no facilitator/],
  ['wants another way', { extra: { facilitatorAddress: facilitator, assetTransferMethod: 'eip3009' } }, /Permit2 only/],
  [
    'is of the ledger of test money',
    { network: 'eip155:31337', asset: `0x7357${'0'.repeat(31)}31337` },
    /does not pay by “upto” on/,
  ],
])('an offer that %s is refused by name', async (_, over, why) => {
  const { pay } = await payer()
  const { url } = await seller(async () => undefined, over)
  await expect(pay(url)).rejects.toThrow(why)
})
