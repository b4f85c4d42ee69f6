import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { AppError } from '#shared/appError.ts'
import { getSandbox } from '#shared/contract/sandboxes.ts'
import type { SandboxId } from '#shared/ids.ts'
import { useAgent } from '../../api/AgentProvider.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { StatusDot } from '../../ui/StatusDot.tsx'
import { getStatusLabel, getStatusTone } from '../../ui/sandboxes/sandboxLabels.ts'
import { ThemeSwitch } from '../ThemeSwitch.tsx'
import { LinkEnded } from './LinkEnded.tsx'
import { LinkTerminals } from './LinkTerminals.tsx'

type LinkScreenProps = { sandboxId: SandboxId; token: string }

const intervalMs = 10_000

/** Terminals of one sandbox, for users with its link. */
export function LinkScreen({ sandboxId, token }: LinkScreenProps) {
  const agent = useAgent()
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['linked', sandboxId],
    queryFn: ({ signal }) => agent(getSandbox, { id: sandboxId }, { signal }),
    refetchOnWindowFocus: 'always',
    // This page receives no events, so revocation is detected by polling.
    refetchInterval: ({ state }) => (state.error && isEnded(state.error) ? false : intervalMs),
  })
  const name = data?.name
  useEffect(() => {
    if (name) document.title = `${name} · Steward`
  }, [name])

  if (isPending) {
    return (
      <main className="p-3">
        <SkeletonRows label="Opening the sandbox…" count={2} rowClassName="h-7" />
      </main>
    )
  }
  if (error) {
    if (isEnded(error)) return <LinkEnded />
    return (
      <main className="mx-auto flex h-full max-w-120 flex-col justify-center p-6">
        <ErrorNotice error={error} onRetry={() => void refetch()} />
      </main>
    )
  }
  return (
    <div className="flex h-full flex-col">
      <header className="flex h-10 shrink-0 items-center gap-2 border-b border-line bg-panel px-3">
        <StatusDot tone={getStatusTone(data.status)} />
        <h1 className="min-w-0 truncate font-semibold">{data.name}</h1>
        <span className="text-faint">{getStatusLabel(data.status)}</span>
        <div className="flex-1" />
        <ThemeSwitch side="bottom" />
      </header>
      <main className="min-h-0 flex-1">
        <LinkTerminals sandbox={data} token={token} />
      </main>
    </div>
  )
}

function isEnded(error: Error): boolean {
  return error instanceof AppError && (error.code === 'sandbox/not-found' || error.code.startsWith('auth/'))
}
