import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { describeAction, describePayee } from '#shared/contract/intentLabels.ts'
import type { Grant } from '#shared/contract/intents.ts'
import { SettingsGroup } from '../SettingsPage.tsx'
import { useGrants, useRevokeGrant } from './useGrants.ts'

/** Grants that the user approved in advance, in addition to the rules. */
export function GrantsGroup() {
  const { data, error, isPending, refetch } = useGrants()
  return (
    <SettingsGroup title="Remembered approvals" description="Requests like these are signed without asking.">
      {isPending ? (
        <SkeletonRows label="Loading remembered approvals…" count={1} rowClassName="h-12" />
      ) : error ? (
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      ) : data.length === 0 ? (
        <p className="rounded-card border border-line px-3.5 py-4 text-muted">No remembered approvals.</p>
      ) : (
        <ul aria-label="Remembered approvals" className="divide-y divide-line rounded-card border border-line">
          {data.map((grant) => (
            <GrantRow key={grant.id} grant={grant} />
          ))}
        </ul>
      )}
    </SettingsGroup>
  )
}

function GrantRow({ grant }: { grant: Grant }) {
  const revoke = useRevokeGrant()
  const [busy, setBusy] = useState(false)
  const { requester, kind, host, scope, path, max_amount_micro_usd } = grant
  const who = requester.kind === 'person' ? 'You' : `“${requester.name}”`
  const end = async () => {
    setBusy(true)
    try {
      await revoke(grant.id)
    } catch (error) {
      setBusy(false)
      notify.failed(error)
    }
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 py-2 pr-2 pl-3.5">
      <div className="min-w-56 flex-1">
        <p>
          {who} may {describeAction({ kind, host: host ?? '*', max_amount_micro_usd })}
          {describePayee(scope)}
          {path ? ` for ${path} only` : ''} without asking.
        </p>
        <p className="text-small text-faint">{describeEnd(grant)}</p>
      </div>
      <Button size="small" busy={busy} onClick={() => void end()}>
        Revoke
      </Button>
    </li>
  )
}

function describeEnd({ times_left: times, until }: Grant): string {
  const left = times === null ? [] : [times === 1 ? 'Once more' : `${times} more times`]
  const end = until === null ? [] : [`until ${new Date(until).toLocaleString()}`]
  const words = [...left, ...end].join(', ')
  return words === '' ? 'Until you revoke it.' : `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
}
