import type { EvmNetwork, SolanaNetwork } from '#shared/contract/networks.ts'
import type { WalletAccount } from '#shared/contract/wallet.ts'
import type { IntentField, IntentOf } from './parsedIntent.ts'
import { listInvisibleWarnings } from './plainText.ts'
import type { Site } from './site.ts'

type Payment = {
  intent: IntentOf<'x402.authorize'>
  account: Pick<WalletAccount, 'address' | 'label'>
  network: EvmNetwork | SolanaNetwork
  amount: { label: string; value: string }
  /** Validity of the authorization, as text. */
  valid: string
  site: Pick<Site, 'warnings'>
  /** Fields specific to this payment scheme. */
  more?: readonly IntentField[]
}

export function listPaymentFields({
  intent,
  account,
  network,
  amount,
  valid,
  site,
  more = [],
}: Payment): IntentField[] {
  const { pay_to: payee, resource, description } = intent
  return [
    { ...amount, kind: 'amount' },
    { label: 'To', value: payee, kind: 'address' },
    { label: 'From', value: account.address, kind: 'address' },
    { label: 'Account', value: account.label, kind: 'text' },
    { label: 'Network', value: network.name, kind: 'text' },
    { label: 'For', value: resource, kind: 'url' },
    ...(description === undefined ? [] : [{ label: 'Description', value: description, kind: 'text' as const }]),
    ...more,
    { label: 'Valid', value: valid, kind: 'text' },
    { label: 'USDC', value: network.usdc.address, kind: 'address' },
    ...site.warnings,
    ...listInvisibleWarnings('The description', description ?? ''),
    ...testWarning(network),
  ]
}

function testWarning({ test, name }: Payment['network']): IntentField[] {
  return test ? [{ label: 'Test network', value: `Money on ${name} is worth nothing.`, kind: 'warning' }] : []
}
