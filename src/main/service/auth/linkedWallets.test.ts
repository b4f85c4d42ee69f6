import { expect, test } from 'vitest'
import { AppError } from '#shared/appError.ts'
import { AccountId } from '#shared/ids.ts'
import type { Caller } from '../base/endpoint.ts'
import { createLinkedWallets } from './linkedWallets.ts'
import type { WalletRecord } from './walletRepository.ts'

test('does not link a wallet when the caller ends during signature verification', async () => {
  const linked: WalletRecord[] = []
  const notes: string[] = []
  const { promise: verified, resolve: verify } = Promise.withResolvers<void>()
  const wallet = { type: 'evm', address: '0x5d38E6C1923492247511a01b49e34A26cacD6811' } as const
  const wallets = createLinkedWallets({
    checks: { verify: () => verified.then(() => wallet) },
    wallets: { find: () => undefined, add: (it) => void linked.push(it), remove() {}, list: () => linked },
    accounts: { atomically: (work) => work() },
    sessions: { revokeWallet() {} },
    requests: { withdraw() {} },
    note: (_, { description }) => void notes.push(description),
    keys: { revokeIssuedBy: () => [] },
    principals: { endAbsent: async () => {} },
    now: () => 0,
  })
  let hasEnded = false
  const caller = { accountId: AccountId.parse('acct_1') } as Caller
  const link = () =>
    wallets.link(caller, { message: '', signature: '', chainType: 'evm', host: 'localhost' }, () => {
      if (hasEnded) throw new AppError('auth/invalid', 'This sign-in has ended.')
    })
  const linking = link()
  hasEnded = true
  verify()
  await expect(linking).rejects.toMatchObject({ code: 'auth/invalid' })
  expect([linked, notes]).toEqual([[], []])
  hasEnded = false
  expect(await link()).toMatchObject(wallet)
  expect(linked).toHaveLength(1)
})
