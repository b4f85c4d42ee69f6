import { expect, test } from 'vitest'
import { Keyring } from '#shared/contract/wallet.ts'
import type { RemovalRequest, WalletVault } from '../../wallet/walletVault.ts'
import { createRemovePrompt, type LinkedAddresses } from './removePrompt.ts'

const ownAddress = '0x0000000000000000000000000000000000000001'
const theirs = '0x0000000000000000000000000000000000000002'
const keyring = Keyring.parse({
  ...{ id: `keys_${'1'.repeat(24)}`, kind: 'phrase', label: 'Phrase 1', words: 12, written_down: true },
  ...{ created_at: '2026-01-01T00:00:00.000Z', accounts: [] },
})
const here = { name: 'This computer', kind: 'embedded', state: 'connected' } as const

function renderPrompt(linked: Partial<LinkedAddresses>) {
  const removals: RemovalRequest[] = []
  const vault = { remove: async (_, request) => void removals.push(request) } as Partial<WalletVault> as WalletVault
  const { first } = createRemovePrompt(vault, keyring, { own: [], others: [], service: here, ...linked })
  const { markup } = first.show({ problem: undefined, form: () => '' }).body
  return {
    text: markup.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' '),
    removals,
    send: (fields: Record<string, string>) => first.take((name) => fields[name] ?? ''),
  }
}

test('describes the wallets to unlink and that this waits for an unavailable service', () => {
  const { text } = renderPrompt({ own: [ownAddress] })
  expect(text).toContain(
    `Removing it also ends that: Steward unlinks ${ownAddress}, and revokes API keys that it created.`,
  )
  expect(text).not.toContain('connected again')
  const away = renderPrompt({
    own: [ownAddress],
    service: { name: 'hosted.example', kind: 'hosted', state: 'unreachable' },
  })
  expect(away.text).toContain('signs in to your account at hosted.example')
  expect(away.text).toContain('This happens when the service is connected again.')
})

test('describes a wallet linked by the user and unlinks it if chosen', async () => {
  const { text, send, removals } = renderPrompt({ others: [theirs] })
  expect(text).toContain(
    `Also linked to your account on this computer, by you or an earlier version of Steward: ${theirs}.`,
  )
  const fields = { typed_label: 'Phrase 1', passphrase: 'several plain words' }
  await send({ ...fields, unlink: 'all' })
  await send({ ...fields, unlink: 'own' })
  expect(removals.map(({ unlinksAll }) => unlinksAll)).toEqual([true, false])
})

test('asks about no sign-ins without linked wallets', async () => {
  const { text, send, removals } = renderPrompt({})
  expect(text).not.toMatch(/sign in|Unlink/)
  await send({ typed_label: 'Phrase 1', passphrase: 'several plain words', unlink: 'all' })
  expect(removals.map(({ unlinksAll }) => unlinksAll)).toEqual([false])
})
