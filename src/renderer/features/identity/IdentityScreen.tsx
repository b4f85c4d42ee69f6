import { Fingerprint, Plus } from 'lucide-react'
import { useWallet } from '../../api/useWallet.ts'
import { Button } from '../../ui/Button.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { PageColumn, PageFrame } from '../../ui/PageFrame.tsx'
import { buildAddress, goTo, useRoute } from '../../ui/route.ts'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import type { Identity } from './identityList.ts'
import { IdentityList } from './list/IdentityList.tsx'
import { RegisterPage } from './register/RegisterPage.tsx'
import { useIdentities } from './useIdentities.ts'
import { IdentityView } from './view/IdentityView.tsx'

/** List of automatons with the selected one or a new registration beside it. */
export function IdentityScreen() {
  const { identities, isPending, error, serviceError, retry } = useIdentities()
  const [, present, of] = useRoute()
  const isListed = identities !== undefined && identities.length > 0
  const selected =
    identities?.find(({ key }) => key === present) ?? (present === undefined ? identities?.[0] : undefined)
  return (
    <PageFrame
      title="Identity"
      count={isListed ? identities.length : undefined}
      actions={
        present !== 'new' &&
        isListed && (
          <Button size="small" icon={Plus} onClick={() => goTo('identity', 'new')}>
            Register automaton
          </Button>
        )
      }
      list={
        isListed
          ? {
              label: 'Automatons',
              content: (
                <IdentityList
                  identities={identities}
                  present={present === 'new' ? 'new' : selected?.key}
                  serviceError={serviceError}
                  onRetry={retry}
                />
              ),
            }
          : undefined
      }
    >
      {isPending ? (
        <PageColumn className="py-5">
          <SkeletonRows label="Loading automatons…" count={4} rowClassName="h-12" />
        </PageColumn>
      ) : identities ? (
        <Beside {...{ identities, selected, present, of }} />
      ) : (
        <PageColumn className="py-5">
          <ErrorNotice error={error} onRetry={retry} />
        </PageColumn>
      )}
    </PageFrame>
  )
}

type BesideProps = {
  identities: readonly Identity[]
  selected: Identity | undefined
  present: string | undefined
  /** Registration whose values prefill a new one. */
  of: string | undefined
}

function Beside({ identities, selected, present, of }: BesideProps) {
  const { data: wallet } = useWallet()
  if (present === 'new') {
    return wallet?.state === 'absent' ? (
      <NoWallet />
    ) : (
      <RegisterPage key={of} before={identities.find(({ key }) => key === of)?.registration?.profile} />
    )
  }
  if (selected) return <IdentityView key={selected.key} identity={selected} />
  return wallet?.state === 'absent' ? <NoWallet /> : <NothingYet isMissing={present !== undefined} />
}

function NoWallet() {
  return (
    <EmptyState
      icon={Fingerprint}
      title="Create a wallet first"
      description="An agent’s identity is signed with a key from your wallet."
      actions={
        <Button variant="primary" onClick={() => goTo('wallet')}>
          Open Wallet
        </Button>
      }
    />
  )
}

function NothingYet({ isMissing }: { isMissing: boolean }) {
  if (isMissing) {
    return (
      <EmptyState
        icon={Fingerprint}
        title="Automaton not found"
        description={
          <p>
            <a href={buildAddress('identity')} className="font-medium text-accent hover:underline">
              Show all automatons
            </a>
          </p>
        }
      />
    )
  }
  return (
    <EmptyState
      icon={Fingerprint}
      title="No automatons yet"
      description="Give an agent a permanent, public identity signed by its own address."
      actions={
        <Button variant="primary" icon={Plus} onClick={() => goTo('identity', 'new')}>
          Register automaton
        </Button>
      }
    >
      <p>Registrations are public and permanent. The prompt itself never leaves this window.</p>
    </EmptyState>
  )
}
