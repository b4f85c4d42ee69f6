import { useConnection } from '#renderer/api/AgentProvider.tsx'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { StatusDot, type Tone } from '#renderer/ui/StatusDot.tsx'
import type { Me } from '#shared/contract/auth.ts'
import type { ServiceConnection } from '#shared/contract/localApi.ts'
import { openRecord, toPlainWord } from '#shared/openRecord.ts'
import { SettingsCard, SettingsGroup, SettingsPage, SettingsRow } from '../SettingsPage.tsx'
import { LinkedWallets } from './LinkedWallets.tsx'
import { SignInWalletRow } from './SignInWalletRow.tsx'
import { useMe } from './useMe.ts'

export function AccountSection() {
  return (
    <SettingsPage
      title="Account"
      description="The service that runs your sandboxes, and your account there. Your wallet stays on this computer."
    >
      <Connection />
      <Identity />
    </SettingsPage>
  )
}

const tones: Readonly<Record<ServiceConnection['state'], Tone>> = openRecord(
  {
    starting: 'caution',
    connected: 'positive',
    'signed-out': 'caution',
    unreachable: 'negative',
  },
  () => 'neutral',
)
const states: Readonly<Record<ServiceConnection['state'], string>> = openRecord(
  {
    starting: 'Starting',
    connected: 'Connected',
    'signed-out': 'Sign-in needed',
    unreachable: 'Not reachable',
  },
  toPlainWord,
)
const kinds: Readonly<Record<ServiceConnection['kind'], string>> = openRecord(
  {
    embedded: 'Runs on this computer.',
    hosted: 'Runs on another computer.',
  },
  toPlainWord,
)

function Connection() {
  const connection = useConnection()
  return (
    <SettingsGroup title="Service">
      {connection === undefined ? (
        <SkeletonRows label="Loading connection…" />
      ) : (
        <SettingsCard>
          <SettingsRow label={connection.name} hint={kinds[connection.kind]}>
            <StatusDot tone={tones[connection.state]} pulsing={connection.state === 'starting'} />
            {states[connection.state]}
          </SettingsRow>
          <SettingsRow label="Address" hint={connection.detail ?? undefined}>
            <AddressText text={connection.url} label="Copy address" />
          </SettingsRow>
          <SignInWalletRow />
        </SettingsCard>
      )}
    </SettingsGroup>
  )
}

const roles: Readonly<Record<Me['role'], { name: string; hint: string }>> = openRecord(
  {
    owner: { name: 'Owner', hint: 'Manages this service, including images and limits.' },
    user: { name: 'User', hint: 'Has their own sandboxes, keys and identities.' },
  },
  (word) => ({ name: toPlainWord(word), hint: 'Unknown to this version of Steward.' }),
)

function Identity() {
  const { data, error, isPending, refetch } = useMe()
  return (
    <SettingsGroup title="Your account">
      {isPending ? (
        <SkeletonRows label="Loading account…" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : (
        <SettingsCard>
          <SettingsRow label="Role" hint={roles[data.role].hint}>
            {roles[data.role].name}
          </SettingsRow>
          <SettingsRow label="Account">
            <AddressText text={data.id} label="Copy account ID" />
          </SettingsRow>
          {data.api_key && (
            <SettingsRow label="Signed in with" hint="Steward sends this key for you. The window never sees it.">
              API key “{data.api_key.name}” <span className="font-mono text-small">{data.api_key.key_prefix}…</span>
            </SettingsRow>
          )}
          <LinkedWallets />
        </SettingsCard>
      )}
    </SettingsGroup>
  )
}
