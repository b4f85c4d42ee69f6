import { expect, onTestFinished, test } from 'vitest'
import { silentLog } from '#platform/logging/log.ts'
import type { LocalEvent } from '#shared/contract/localApi.ts'
import type { WalletAccountId } from '#shared/contract/wallet.ts'
import { createEmitter } from '#shared/emitter.ts'
import { migrate } from '#storage/migrate.ts'
import { agentMigrations } from '#storage/migrations/agent/agentMigrations.ts'
import { openDatabase } from '#storage/sqlite/openDatabase.ts'
import { eventually } from '#test/support/assertions/eventually.ts'
import type { SigningAccount } from '../wallet/walletKeys.ts'
import { createWalletLinker } from './walletLinker.ts'
import { createWalletLinkRepository } from './walletLinkRepository.ts'
import { createWalletUnlinking } from './walletUnlinking.ts'

const address = '0x5d38E6C1923492247511a01b49e34A26cacD6811'
const account: SigningAccount = { id: 'wal_1' as WalletAccountId, chainType: 'evm', address, label: 'Phrase 1' }

/** Creates a linker for one account. The test can pause it at the signature or at the service. */
function openLinker({ isConnected = true, linkedByIt = [] as readonly string[] } = {}) {
  const database = openDatabase(':memory:')
  migrate(database, agentMigrations)
  const records = createWalletLinkRepository(database)
  const events = createEmitter<LocalEvent>()
  let accounts = [account]
  const linkedAtService = new Set<string>()
  const [signature, link] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const steps: string[] = []
  const notes: string[] = []
  const call = async ({ operation }: { operation: string }) => {
    if (operation === 'authWalletLink') {
      linkedAtService.add(address)
      steps.push('link')
      await link.promise
    }
    if (operation === 'authWalletUnlink') linkedAtService.delete(address)
    const wallets = [...linkedAtService].map((wallet_address) => ({
      wallet_address,
      wallet_type: 'evm',
      linked_at: '',
    }))
    return { id: 'acc_1', wallets, wallet_address: address, linked_wallets: linkedByIt }
  }
  const linked = createWalletLinker({
    ...{ events, records, log: silentLog, recordActivity: ({ summary }) => void notes.push(summary) as never },
    link: { status: () => ({ state: isConnected ? 'connected' : 'connecting', name: 'Steward' }) as never },
    client: { call: call as never },
    wallet: {
      account: () =>
        accounts[0] ??
        (() => {
          throw new Error('none')
        })(),
      accounts: () => accounts,
      isUnlocked: () => true,
    },
    messages: {
      async sign() {
        steps.push('sign')
        await signature.promise
        return { message: '', signature: '', chain_type: 'evm' }
      },
    },
  })
  onTestFinished(async () => {
    await linked.close()
    database.close()
  })
  events.emit({ type: 'ready' })
  return {
    ...{ steps, notes, linkedAtService, records, linked, signature, link },
    connect() {
      isConnected = true
      events.emit({ type: 'ready' })
    },
    removeAccount({ unlinksAll = false } = {}) {
      createWalletUnlinking(records).removeAddresses([address], { unlinksAll })
      accounts = []
      events.emit({ type: 'wallet.changed' } as LocalEvent)
    },
  }
}

test('does not link an account removed during signing', async () => {
  const { steps, linkedAtService, records, linked, signature, link, removeAccount } = openLinker()
  await eventually(() => expect(steps).toEqual(['sign']))
  removeAccount()
  link.resolve()
  signature.resolve()
  await linked.waitUntilSettled()
  expect([[...linkedAtService], records.list('acc_1')]).toEqual([[], []])
})

test('unlinks an account removed while the service links it', async () => {
  const { steps, linkedAtService, records, linked, signature, link, removeAccount } = openLinker()
  signature.resolve()
  await eventually(() => expect(steps).toEqual(['sign', 'link']))
  removeAccount()
  link.resolve()
  await linked.waitUntilSettled()
  expect([[...linkedAtService], records.listAll()]).toEqual([[], []])
})

test('lists at most ten wallets linked by a removed one and skips invalid addresses', async () => {
  const addresses = Array.from({ length: 12 }, (_, index) => `0x${String(index).padStart(40, '0')}`)
  const linkedByIt = ['\nYou approved a payment.', 'x'.repeat(10_000), ...addresses]
  const { linked, notes, signature, link, steps, removeAccount } = openLinker({ linkedByIt })
  signature.resolve()
  link.resolve()
  await eventually(() => expect(steps).toEqual(['sign', 'link']))
  await linked.waitUntilSettled()
  removeAccount()
  await linked.waitUntilSettled()
  expect(notes).toEqual([
    `The removed wallet ${address} linked other wallets, which still sign in to your account at Steward: ${addresses.slice(0, 10).join(', ')}. In Settings, unlink any that you don't recognize.`,
  ])
})

test.each([
  [true, [], []],
  [
    false,
    [address],
    [
      `The removed wallet ${address} still signs in to your account at Steward. Unlink it in Settings if it should not.`,
    ],
  ],
])(
  'handles an account removed before its links are known: unlinked %s',
  async (unlinksAll, expected, expectedNotes) => {
    const { linkedAtService, records, linked, notes, connect, removeAccount } = openLinker({ isConnected: false })
    linkedAtService.add(address)
    removeAccount({ unlinksAll })
    await linked.waitUntilSettled()
    expect([...linkedAtService]).toEqual([address])
    connect()
    await linked.waitUntilSettled()
    expect([[...linkedAtService], records.listAll(), notes]).toEqual([expected, [], expectedNotes])
  },
)
