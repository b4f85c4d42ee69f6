import { useState } from 'react'
import { useConnection } from '#renderer/api/AgentProvider.tsx'
import { useWallet } from '#renderer/api/useWallet.ts'
import { ConfirmDialog } from '#renderer/ui/ConfirmDialog.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import type { WalletAccount } from '#shared/contract/wallet.ts'
import { shortenAddress } from '#shared/shortAddress.ts'
import { SettingsRow } from '../SettingsPage.tsx'
import { useSignInWallet } from './useWalletLinks.ts'

export function SignInWalletRow() {
  const connection = useConnection()
  const { data: wallet } = useWallet()
  const { data, choose } = useSignInWallet()
  const [chosen, setChosen] = useState<WalletAccount>()
  const accounts = wallet?.keyrings.flatMap((keyring) => keyring.accounts) ?? []
  const present = data?.sign_in
  if (connection?.kind !== 'hosted' || !present || accounts.length === 0) return null
  const isRemoved = present.label === null
  return (
    <SettingsRow
      label="Signs in with"
      hint={
        isRemoved
          ? `${shortenAddress(present.address)} was removed from the wallet. Choose another account.`
          : 'Steward stays signed in with this account when the default account changes.'
      }
    >
      <Select
        label="Signs in with"
        labelHidden
        value={isRemoved ? '' : present.account_id}
        options={[
          ...(isRemoved ? [{ value: '', label: 'Choose an account' }] : []),
          ...accounts.map(({ id, label, address }) => ({ value: id, label: `${label} (${shortenAddress(address)})` })),
        ]}
        onChange={(id: string) => setChosen(accounts.find((account) => account.id === id))}
      />
      {chosen && chosen.id !== present.account_id && (
        <ConfirmDialog
          open
          onOpenChange={(open) => !open && setChosen(undefined)}
          title={`Sign in with ${chosen.label}?`}
          description={`Steward signs out of ${connection.name} and signs in with ${shortenAddress(chosen.address)}. You then see the sandboxes, credits and domains of that wallet’s account.`}
          confirmLabel="Sign in"
          tone="primary"
          onConfirm={() => choose(chosen.id)}
        />
      )}
    </SettingsRow>
  )
}
