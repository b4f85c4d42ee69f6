import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { privateKeyToAccount } from 'viem/accounts'
import { requirements } from '../../../src/main/service/payments/offer.ts'
import { type PaymentAuthorization, refusalOf } from '../../../src/main/service/payments/paymentAuthorization.ts'
import { testLedgerFacilitator } from '../../../src/main/service/payments/testLedgerFacilitator.ts'
import { testMoneyRepository } from '../../../src/main/service/payments/testMoneyRepository.ts'
import { evmNetworks, testLedgerNetwork } from '../../../src/shared/contract/networks.ts'
import { evmFacilitator } from '../../support/evmFacilitator.ts'
import { lowerCase, payer } from '../../support/payer.ts'
import { testLedger } from '../../support/testLedger.ts'
import { type Compared, type Samples, timed, timedTogether } from '../figures.ts'

const payTo = '0x2222222222222222222222222222222222222222'
const amount = 5_000_000
const [base] = evmNetworks

/** Verifying one payment, beside the facilitator of `@x402/evm` on the same node. */
export async function paymentFigures(count: number): Promise<{ ledger: Samples; chain: Compared }> {
  return { ledger: await onTestLedger(count), chain: await onChain(count) }
}

async function onTestLedger(count: number): Promise<Samples> {
  const { database, commits, close } = await testLedger()
  try {
    const facilitator = testLedgerFacilitator({ records: testMoneyRepository(database), commits, now: Date.now })
    const ada = payer()
    await facilitator.give(ada.address, amount)
    const authorization = await authorizationOf(ada)
    const price = { network: testLedgerNetwork, payTo, amount }
    return await timed(count, async () => {
      const refusal =
        (await refusalOf(authorization, price, Date.now())) ??
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
    const ada = payer(base)
    await give(ada.address, amount)
    const authorization = await authorizationOf(ada)
    const price = { network: base, payTo, amount }
    const { address } = privateKeyToAccount(relayerKey)
    const signer = toFacilitatorEvmSigner({ ...node.client, address } as Parameters<typeof toFacilitatorEvmSigner>[0])
    const peer = new ExactEvmScheme(signer)
    const { signature, ...signed } = authorization
    const accepted = requirements(price)
    const payload = { x402Version: 2, accepted, payload: { signature, authorization: signed } }
    return await timedTogether(count, {
      async mine() {
        const refusal =
          (await refusalOf(authorization, price, Date.now())) ??
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

async function authorizationOf(one: ReturnType<typeof payer>): Promise<PaymentAuthorization> {
  return lowerCase(await one.authorize({ to: payTo, value: String(amount), validBefore: '99999999999' }))
}
