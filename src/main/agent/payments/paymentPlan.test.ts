import { expect, test } from 'vitest'
import { parsePaymentRequired, toIntent } from './paymentPlan.ts'

/** Selection among several offers and the resulting intent. */
const onBase = {
  ...{ scheme: 'exact', network: 'base', maxAmountRequired: '10000', maxTimeoutSeconds: 60 },
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: '0x5d38E6C1923492247511a01b49e34A26cacD6811',
}
const feePayer = '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4'
const onSolana = {
  ...{ ...onBase, network: 'solana', asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  payTo: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  extra: { feePayer, memo: 'order 7', computeUnitPrice: 9_000_000, instructions: [{ program: 'evil' }] },
}
const demand = (hasSolana: boolean, ...accepts: object[]) => {
  const body = Buffer.from(JSON.stringify({ x402Version: 1, accepts }))
  return parsePaymentRequired({ status: 402, headers: {}, body, truncated: false }, { isOwnService: false, hasSolana })
}

test('chooses Solana only if no other offer is payable, whatever the order', () => {
  expect(demand(true, onSolana, onBase).choice?.index).toBe(1)
  expect(demand(true, onSolana, { ...onBase, network: 'eip155:1' }).choice?.index).toBe(0)
})

test('an offer without an account on its network is not payable', () => {
  const { choice, offers } = demand(false, onSolana)
  expect(choice).toBeUndefined()
  expect(offers[0]?.offer).toMatchObject({ payable: false, problem: 'The wallet has no Solana account.' })
})

test('builds an intent only from payee and amount, fee payer and memo', () => {
  const { choice } = demand(true, onSolana)
  if (!choice) throw new Error('It was not chosen.')
  expect(toIntent(choice, { url: 'https://shop.example/x', purpose: 'fetch', title: 'GET x' })).toEqual({
    ...{ kind: 'x402.authorize', network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', pay_to: onSolana.payTo },
    ...{ amount: '10000', resource: 'https://shop.example/x', valid_seconds: 60, fee_payer: feePayer, memo: 'order 7' },
  })
})
