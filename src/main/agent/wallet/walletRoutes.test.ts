import { afterEach, beforeEach, expect, test } from 'vitest'
import { createEmptyPieces } from '#platform/http/requestBody.ts'
import { parseRequest } from '#shared/contract/parseRequest.ts'
import { Wallet } from '#shared/contract/wallet.ts'
import { openTestWallet, type TestWallet } from '#test/support/fixtures/openTestWallet.ts'
import { temporaryFolder } from '#test/support/fixtures/temporaryFolder.ts'
import { createWalletRoutes } from './walletRoutes.ts'

const passphrase = 'correct horse battery'
const phrase = 'test test test test test test test test test test test junk'

let opened: TestWallet

beforeEach(async () => {
  opened = openTestWallet({ folder: temporaryFolder('wallet') })
  await opened.wallet.addPhrase({ phrase, writtenDown: true, passphrase })
})
afterEach(() => opened.close())

/** Calls an operation with validated input, as the local API does. */
async function ask(
  operation: string,
  request: { params?: Record<string, string>; body?: unknown } = {},
): Promise<Wallet> {
  const endpoint = createWalletRoutes(opened.wallet).find(({ route }) => route.operation === operation)
  if (!endpoint) throw new Error(`There is no ${operation}.`)
  const input = parseRequest(endpoint.route, { params: request.params ?? {}, query: {}, body: request.body ?? {} })
  const requester = { kind: 'person', id: 'person', name: 'You' } as const
  const { signal } = new AbortController()
  return Wallet.parse(
    await endpoint.handle(input, {
      requester,
      origin: 'http://127.0.0.1:1',
      repeatable: undefined,
      body: createEmptyPieces(),
      setHeader() {},
      signal,
    }),
  )
}

test('routes that read or label, extend or lock the wallet return its state', async () => {
  const { keyrings } = await ask('walletGet')
  const [keyring] = keyrings
  const keyringId = keyring?.id ?? ''
  const body = { keyring_id: keyringId, chain_type: 'evm' }
  const added = await ask('walletAccountAdd', { body })
  const account = added.keyrings[0]?.accounts.at(-1)
  expect(account).toMatchObject({ derivation_path: `m/44'/60'/0'/0/1` })
  const accountId = account?.id ?? ''
  await ask('walletAccountRename', { params: { accountId }, body: { label: 'Savings' } })
  const renamed = await ask('walletKeyringRename', { params: { keyringId }, body: { label: 'Mine' } })
  expect(renamed.keyrings).toMatchObject([{ label: 'Mine', accounts: [{}, {}, { label: 'Savings' }] }])
  const changed = await ask('walletChange', { body: { auto_lock_minutes: null, default_account_id: accountId } })
  expect(changed).toMatchObject({ auto_lock_minutes: null, default_accounts: { evm: accountId } })
  expect(await ask('walletLock')).toMatchObject({ state: 'locked' })
  await expect(ask('walletAccountAdd', { body })).rejects.toMatchObject({ code: 'wallet/locked' })
})

test.each([
  ['walletChange', { body: { auto_lock_minutes: 0 } }],
  ['walletChange', { body: { default_account_id: 'wal_x' } }],
  ['walletAccountAdd', { body: { keyring_id: `keys_${'0'.repeat(24)}`, chain_type: 'bitcoin' } }],
  ['walletKeyringRename', { params: { keyringId: `keys_${'0'.repeat(24)}` }, body: { label: 'a\u202eb' } }],
])('%s rejects invalid input: %o', async (operation, input) => {
  await expect(ask(operation, input)).rejects.toMatchObject({ code: 'request/invalid' })
})
