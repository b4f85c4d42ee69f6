import { RotateCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { AddressText } from '#renderer/ui/AddressText.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { PageColumn } from '#renderer/ui/PageFrame.tsx'
import { goTo } from '#renderer/ui/route.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import type { Identity } from '../identityList.ts'
import { chainLabels, stateLabels } from '../stateLabels.ts'
import { RegistrationProgress } from './RegistrationProgress.tsx'

export function IdentityView({ identity }: { identity: Identity }) {
  const { name, state, chainType, automaton, registration } = identity
  const profile = automaton ?? registration?.profile
  const { words, tone } = stateLabels[state]
  const isOver = state === 'refused' || state === 'failed'
  return (
    <article aria-label="Automaton" className="size-full overflow-auto">
      <PageColumn className="flex flex-col gap-5 py-5">
        <header className="flex flex-wrap items-start justify-between gap-3">
          <div className="min-w-0 flex-1">
            <p role="status" className="flex items-center gap-2 text-small text-muted">
              <StatusDot tone={tone} pulsing={state === 'sending'} />
              {words}
            </p>
            <h2 className="mt-1.5 text-large font-semibold break-words">
              <bdi>{name}</bdi>
            </h2>
            {profile && profile.bio !== '' && (
              <p className="mt-1 break-words whitespace-pre-line text-muted">{profile.bio}</p>
            )}
          </div>
          {isOver && registration && (
            <Button icon={RotateCw} onClick={() => goTo('identity', 'new', registration.id)}>
              Edit and try again
            </Button>
          )}
        </header>
        {registration && state !== 'registered' && <RegistrationProgress registration={registration} />}
        {profile && (
          <section aria-label="Profile" className="rounded-card border border-line">
            <dl className="divide-y divide-line">
              <Row title="Address">
                <AddressText whole text={profile.automaton_address} label="Copy address" />
              </Row>
              <Row title="Creator">
                <AddressText whole text={profile.creator_address} label="Copy creator" />
              </Row>
              <Row title="Automaton ID">
                <AddressText whole text={profile.automaton_id} label="Copy ID" />
              </Row>
              <Row title="Genesis prompt hash">
                {profile.genesis_prompt_hash ? (
                  <AddressText whole text={profile.genesis_prompt_hash} label="Copy hash" />
                ) : (
                  <span className="text-faint">None</span>
                )}
              </Row>
              <Row title="Chain">{chainLabels[chainType]}</Row>
              {automaton && (
                <Row title="Registered">
                  <time dateTime={automaton.created_at}>{new Date(automaton.created_at).toLocaleString()}</time>
                </Row>
              )}
              {registration && (
                <Row title="Profile hash">
                  <AddressText whole text={registration.payload_hash} label="Copy profile hash" />
                </Row>
              )}
            </dl>
          </section>
        )}
      </PageColumn>
    </article>
  )
}

function Row({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[11rem_minmax(0,1fr)] items-start gap-3 px-3.5 py-1.5 max-narrow:grid-cols-1 max-narrow:gap-0">
      <dt className="leading-6 text-muted">{title}</dt>
      <dd className="min-w-0 leading-6 break-words">{children}</dd>
    </div>
  )
}
