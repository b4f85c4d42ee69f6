import { useQueryClient } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { useWallet, walletKey } from '#renderer/api/useWallet.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot, type Tone } from '#renderer/ui/StatusDot.tsx'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { changeWallet, lockWallet, type Wallet } from '#shared/contract/wallet.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { SettingsCard, SettingsGroup, SettingsPage, SettingsRow } from '../SettingsPage.tsx'
import { buildAutoLockOptions, formatMinutesOption, parseMinutesOption } from './autoLock.ts'

export function WalletLockSection() {
  const { data, error, isPending, refetch } = useWallet()
  return (
    <SettingsPage
      title="Wallet lock"
      description="A locked wallet signs nothing. Unlock it with your passphrase in a protected form."
    >
      {isPending ? (
        <SkeletonRows label="Loading wallet…" count={3} rowClassName="h-12" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <>
          <LockCard wallet={data} />
          <BackendGroup wallet={data} />
        </>
      )}
    </SettingsPage>
  )
}

const states: Record<Wallet['state'], { tone: Tone; name: string; hint: string }> = openRecord(
  {
    absent: { tone: 'neutral', name: 'No wallet yet', hint: 'Create or import one in Wallet.' },
    locked: { tone: 'caution', name: 'Locked', hint: 'Signing needs your passphrase.' },
    unlocked: { tone: 'positive', name: 'Unlocked', hint: 'Signs what you and your policies approve.' },
    keychain_locked: {
      tone: 'caution',
      name: 'Keychain locked',
      hint: 'Unlock it in your system’s dialog.',
    },
    keychain_unavailable: { tone: 'negative', name: 'Keychain not responding', hint: 'Start it, then try again.' },
    damaged: { tone: 'negative', name: 'Wallet unreadable', hint: 'Steward will not overwrite it.' },
  },
  (word) => ({ tone: 'neutral', name: toPlainWord(word), hint: 'Unknown to this version of Steward.' }),
)

function LockCard({ wallet }: { wallet: Wallet }) {
  const { state, detail } = wallet
  const { tone, name, hint } = states[state]
  return (
    <SettingsCard>
      <SettingsRow label={name} hint={detail ?? hint}>
        <StatusDot tone={tone} />
        <StateButton state={state} />
      </SettingsRow>
      <AutoLockRow wallet={wallet} />
      {wallet.keyrings.length > 0 && <PassphraseRow />}
    </SettingsCard>
  )
}

function StateButton({ state }: Pick<Wallet, 'state'>) {
  const openSecurePrompt = useSecurePrompt()
  if (state === 'unlocked') return <LockNow />
  if (state === 'locked') return <Button onClick={() => void openSecurePrompt({ purpose: 'unlock' })}>Unlock…</Button>
  return <Button onClick={() => goTo('wallet')}>Open Wallet</Button>
}

function PassphraseRow() {
  const openSecurePrompt = useSecurePrompt()
  const change = async () => {
    if ((await openSecurePrompt({ purpose: 'change_passphrase' })) === 'done') notify.done('Passphrase changed')
  }
  return (
    <SettingsRow label="Passphrase" hint="Encrypts the wallet. Steward does not store it and it cannot be reset.">
      <Button onClick={() => void change()}>Change passphrase…</Button>
    </SettingsRow>
  )
}

function LockNow() {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const lock = async () => {
    setBusy(true)
    try {
      queryClient.setQueryData<Wallet>(walletKey, await agent(lockWallet, {}))
    } catch (error) {
      notify.failed(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button icon={Lock} busy={busy} onClick={() => void lock()}>
      Lock now
    </Button>
  )
}

function AutoLockRow({ wallet }: { wallet: Wallet }) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [busy, setBusy] = useState(false)
  const choose = async (option: string) => {
    setBusy(true)
    try {
      const changed = await agent(changeWallet, { auto_lock_minutes: parseMinutesOption(option) })
      queryClient.setQueryData<Wallet>(walletKey, changed)
    } catch (error) {
      notify.failed(error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <SettingsRow label="Auto-lock" hint="After inactivity.">
      <div className="w-44">
        <Select
          label="Auto-lock"
          labelHidden
          value={formatMinutesOption(wallet.auto_lock_minutes)}
          options={buildAutoLockOptions(wallet.auto_lock_minutes)}
          disabled={busy}
          onChange={(option) => void choose(option)}
        />
      </div>
    </SettingsRow>
  )
}

function BackendGroup({ wallet: { backend } }: { wallet: Wallet }) {
  return (
    <SettingsGroup title="Storage">
      <SettingsCard>
        <SettingsRow label={backend.name} hint={backend.detail}>
          {null}
        </SettingsRow>
      </SettingsCard>
    </SettingsGroup>
  )
}
