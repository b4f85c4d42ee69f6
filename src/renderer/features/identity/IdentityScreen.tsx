import { Fingerprint, Plus } from 'lucide-react'
import { useWallet } from '../../agent/useWallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { addressOf, goTo, usePlace } from '../../ui/place.ts'
import { ScreenHeader } from '../../ui/ScreenHeader.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import type { Identity } from './identityList.ts'
import { IdentityList } from './list/IdentityList.tsx'
import { RegisterPage } from './register/RegisterPage.tsx'
import { useIdentities } from './useIdentities.ts'
import { IdentityView } from './view/IdentityView.tsx'

/** The automatons at the left, one of them or a new registration beside them. */
export function IdentityScreen() {
  const { identities, isPending, error, serviceError, retry } = useIdentities()
  const [, present, of] = usePlace()
  return (
    <div className="grid h-full grid-rows-[auto_minmax(0,1fr)]">
      <ScreenHeader
        title="Identity"
        words="An automaton is registered once, with the signature of its own address, and never changes afterwards."
        actions={
          present !== 'new' &&
          identities &&
          identities.length > 0 && (
            <Button icon={Plus} onClick={() => goTo('identity', 'new')}>
              Register automaton
            </Button>
          )
        }
      />
      {isPending ? (
        <div className="w-72 p-4 max-narrow:w-auto">
          <SkeletonRows label="Reading the automatons…" count={4} rowClassName="h-12" />
        </div>
      ) : identities ? (
        <Panes {...{ identities, present, of, serviceError }} onRetry={retry} />
      ) : (
        <div className="p-6">
          <ErrorNotice error={error} onRetry={retry} />
        </div>
      )}
    </div>
  )
}

type PanesProps = {
  identities: readonly Identity[]
  present: string | undefined
  /** Of a new one: the registration whose values it begins with. */
  of: string | undefined
  serviceError: Error | undefined
  onRetry: () => void
}

function Panes({ identities, present, of, serviceError, onRetry }: PanesProps) {
  const { data: wallet } = useWallet()
  const shown = identities.find(({ key }) => key === present) ?? (present === undefined ? identities[0] : undefined)
  const beside =
    present === 'new' ? (
      wallet?.state === 'absent' ? (
        <NoWallet />
      ) : (
        <RegisterPage key={of} before={identities.find(({ key }) => key === of)?.registration?.profile} />
      )
    ) : shown ? (
      <IdentityView key={shown.key} identity={shown} />
    ) : wallet?.state === 'absent' ? (
      <NoWallet />
    ) : (
      <NothingYet isGone={present !== undefined} />
    )
  if (identities.length === 0) return beside
  return (
    <div className="grid min-h-0 grid-cols-[18rem_minmax(0,1fr)] grid-rows-[minmax(0,1fr)] max-narrow:grid-cols-1 max-narrow:grid-rows-[auto_minmax(0,1fr)]">
      <IdentityList
        identities={identities}
        present={present === 'new' ? 'new' : shown?.key}
        serviceError={serviceError}
        onRetry={onRetry}
      />
      {beside}
    </div>
  )
}

function NoWallet() {
  return (
    <EmptyState
      icon={Fingerprint}
      title="An automaton needs an address"
      description="Its identity is signed with a key of your wallet, and there is no wallet here yet. Create or import one first."
      actions={
        <Button variant="primary" onClick={() => goTo('wallet')}>
          Go to the wallet
        </Button>
      }
    />
  )
}

function NothingYet({ isGone }: { isGone: boolean }) {
  if (isGone) {
    return (
      <EmptyState
        icon={Fingerprint}
        title="This automaton is not known here"
        description={
          <p>
            <a href={addressOf('identity')} className="font-medium text-accent hover:underline">
              Show those that are
            </a>
          </p>
        }
      />
    )
  }
  return (
    <EmptyState
      icon={Fingerprint}
      title="No automaton yet"
      description="Give one a name, an address of your wallet and, if you like, the hash of the prompt that it began with. Anybody can then check that it is the one it says it is."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => goTo('identity', 'new')}>
          Register automaton
        </Button>
      }
    >
      <p>What is registered is public and stays as it is, for good. The prompt itself never leaves this window.</p>
    </EmptyState>
  )
}
