import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { privateKeyToAccount } from 'viem/accounts'
import { createRequirements } from '#service/payments/offer.ts'
import { type PaymentAuthorization, validateAuthorization } from '#service/payments/paymentAuthorization.ts'
import { createTestLedgerFacilitator } from '#service/payments/testLedgerFacilitator.ts'
import { evmNetworks, testLedgerNetwork } from '#shared/contract/networks.ts'
import { createPayer, lowerCase, paymentHeader } from '../../support/clients/payer.ts'
import { evmFacilitator } from '../../support/fakes/evmFacilitator.ts'
import { testLedger } from '../../support/fixtures/testLedger.ts'
import { runningService } from '../../support/processes/runningService.ts'
import { type Compared, measureEach, measureTogether, type Samples } from '../figures.ts'

const payTo = '0x2222222222222222222222222222222222222222'
const amount = 5_000_000
const [base] = evmNetworks

/** Measures the verification of one payment, compared with the facilitator of `@x402/evm` on the same node. */
export async function paymentFigures(count: number): Promise<{ ledger: Samples; chain: Compared }> {
  return { ledger: await onTestLedger(count), chain: await onChain(count) }
}

/** Measures concurrent purchases of credits over HTTP. @returns the time of the last response */
export async function measureConcurrentPayments(count: number): Promise<{ lastMs: number; eachProcessorMs: number }> {
  const service = await runningService({ host: 'none', payments: { facilitator: { kind: 'test-ledger' } } })
  try {
    const { id } = (await service.send('/v1/auth/me')).json
    const path = `/pay/5/${id}`
    const [offer] = (await service.send(path, { key: null })).json.accepts
    const buyers = await Promise.all(
      Array.from({ length: count }, async () => {
        const buyer = createPayer()
        await service.send('/v1/payments/faucet', { body: { address: buyer.address } })
        return paymentHeader(2, await buyer.authorize({ to: offer.payTo, value: String(amount) }))
      }),
    )
    const before = process.cpuUsage()
    const begin = performance.now()
    const answers = await Promise.all(buyers.map((headers) => service.send(path, { key: null, headers })))
    const lastMs = performance.now() - begin
    const { user, system } = process.cpuUsage(before)
    const paid = new Set(answers.map(({ json }) => json.tx_hash))
    if (paid.size !== count || answers.some(({ status }) => status !== 200)) throw new Error('Not all were paid.')
    return { lastMs, eachProcessorMs: (user + system) / 1000 / count }
  } finally {
    await service.close()
  }
}

async function onTestLedger(count: number): Promise<Samples> {
  const { data, close } = await testLedger()
  try {
    const facilitator = createTestLedgerFacilitator({ store: data, now: Date.now })
    const ada = createPayer()
    await facilitator.give(ada.address, amount)
    const authorization = await authorize(ada)
    const price = { network: testLedgerNetwork, payTo, amount }
    return await measureEach(count, async () => {
      const refusal =
        (await validateAuthorization(authorization, price, Date.now())) ??
        (await facilitator.verify({ authorization, createdAtMs: 0, again: false }))
      if (refusal) throw new Error(refusal.message)
    })
  } finally {
    await close()
  }
}

async function onChain(count: number): Promise<Compared> {
  const { node, facilitator, relayerKey, give, close } = await evmFacilitator(base)
  try {
    const ada = createPayer(base)
    await give(ada.address, amount)
    const authorization = await authorize(ada)
    const price = { network: base, payTo, amount }
    const { address } = privateKeyToAccount(relayerKey)
    const signer = toFacilitatorEvmSigner({ ...node.client, address } as Parameters<typeof toFacilitatorEvmSigner>[0])
    const peer = new ExactEvmScheme(signer)
    const { signature, ...signed } = authorization
    const accepted = createRequirements(price)
    const payload = { x402Version: 2, accepted, payload: { signature, authorization: signed } }
    return await measureTogether(count, {
      async mine() {
        const refusal =
          (await validateAuthorization(authorization, price, Date.now())) ??
          (await facilitator.verify({ authorization, createdAtMs: 0, again: false }))
        if (refusal) throw new Error(refusal.message)
      },
      async peer() {
        const { isValid, invalidReason } = await peer.verify(payload, accepted)
        if (!isValid) throw new Error(invalidReason)
      },
    })
  } finally {
    await close()
  }
}

async function authorize(buyer: ReturnType<typeof createPayer>): Promise<PaymentAuthorization> {
  return lowerCase(await buyer.authorize({ to: payTo, value: String(amount), validBefore: '99999999999' }))
}
