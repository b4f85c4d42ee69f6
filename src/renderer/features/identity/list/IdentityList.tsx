import { Plus } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { moveAmongRows } from '#renderer/ui/moveAmongRows.ts'
import { buildAddress } from '#renderer/ui/route.ts'
import { StatusDot } from '#renderer/ui/StatusDot.tsx'
import { TimeAgo } from '#renderer/ui/TimeAgo.tsx'
import { shortenAddress } from '#shared/shortAddress.ts'
import type { Identity } from '../identityList.ts'
import { chainLabels, stateLabels } from '../stateLabels.ts'

type IdentityListProps = {
  identities: readonly Identity[]
  present: string | undefined
  serviceError: Error | undefined
  onRetry: () => void
}

/** List of automatons. Arrow keys move between rows. */
export function IdentityList({ identities, present, serviceError, onRetry }: IdentityListProps) {
  return (
    <section
      aria-label="Automatons"
      onKeyDown={moveAmongRows}
      className="flex size-full flex-col overflow-auto bg-panel px-2 pt-2.5 pb-1.5"
    >
      <h3 className="flex h-6 items-center px-2 text-small font-medium text-faint">
        Automatons
        <span className="ml-1.5 tabular-nums">{identities.length}</span>
      </h3>
      <ul aria-label="Automatons" className="flex flex-col gap-0.5">
        {identities.map((identity) => (
          <IdentityRow key={identity.key} identity={identity} isPresent={identity.key === present} />
        ))}
      </ul>
      <a
        href={buildAddress('identity', 'new')}
        aria-current={present === 'new' ? 'true' : undefined}
        className={joinClassNames(
          'mt-1 flex h-8 items-center gap-2 rounded-control px-2 text-muted hover:text-text',
          present === 'new' ? 'bg-selected text-text' : 'hover:bg-hover',
        )}
      >
        <Plus aria-hidden className="size-3.5" />
        Register another
      </a>
      {serviceError && (
        <div className="mt-3">
          <ErrorNotice error={serviceError} onRetry={onRetry} />
        </div>
      )}
    </section>
  )
}

function IdentityRow({ identity, isPresent }: { identity: Identity; isPresent: boolean }) {
  const { key, name, address, state, chainType, createdAt } = identity
  const { words, tone } = stateLabels[state]
  return (
    <li>
      <a
        href={buildAddress('identity', key)}
        aria-current={isPresent ? 'true' : undefined}
        className={joinClassNames('block rounded-control px-2 py-1.5', isPresent ? 'bg-selected' : 'hover:bg-hover')}
      >
        <span className="flex items-baseline gap-2">
          <bdi className="min-w-0 flex-1 truncate font-medium">{name}</bdi>
          <TimeAgo at={createdAt} />
        </span>
        <span className="mt-0.5 flex items-center gap-1.5 text-small text-muted">
          <StatusDot tone={tone} pulsing={state === 'sending'} />
          <span className="shrink-0">{words}</span>
          <span className="min-w-0 flex-1 truncate text-right font-mono text-faint">{shortenAddress(address)}</span>
          <span className="shrink-0 text-faint">{chainLabels[chainType]}</span>
        </span>
      </a>
    </li>
  )
}
