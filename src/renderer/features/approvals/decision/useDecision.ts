import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent, useLocalStatus } from '#renderer/api/AgentProvider.tsx'
import { useWallet } from '#renderer/api/useWallet.ts'
import { useSheet } from '#renderer/ui/sheetContext.ts'
import { AppError } from '#shared/appError.ts'
import { decideIntent, type IntentRecord } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import { followInbox } from '../inbox/useInbox.ts'
import type { GrantDraft } from './describeGrant.ts'

type Deed = 'deny' | 'approve'
/** Decides one request, by way of what has to be given first: an unlocked wallet, a confirmation. */
export function useDecision(record: IntentRecord) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  // Tool calls are not signed.
  const isLocked = useWallet().data?.state === 'locked' && record.kind !== 'tool.call'
  const confirmsOnSheet = useLocalStatus()?.shell !== 'electron' && record.needs_confirmation
  const openSheet = useSheet()
  const [busy, setBusy] = useState<Deed>()
  const [error, setError] = useState<unknown>()

  /** Then the person is back at the same decision: unlocking approves nothing. */
  const unlock = () => openSheet({ purpose: 'unlock' })

  const decide = async (deed: Deed, grant?: GrantDraft): Promise<boolean> => {
    if (busy !== undefined) return false
    setBusy(deed)
    setError(undefined)
    try {
      const intent = await agent(decideIntent, {
        intentId: record.id,
        approve: deed === 'approve',
        ...(grant && { grant: wireGrant(grant, Date.now()) }),
      })
      followInbox(queryClient, { type: 'intent.changed', intent })
      return true
    } catch (error) {
      if (error instanceof AppError && error.code === 'wallet/locked') void unlock()
      else setError(error)
      return false
    } finally {
      setBusy(undefined)
    }
  }

  return {
    /** The sheet that confirms unlocks it too. */
    needsUnlock: isLocked && !(confirmsOnSheet && record.decision === null),
    busy,
    error,
    unlock,
    deny: () => decide('deny'),
    async approve(grant?: GrantDraft): Promise<boolean> {
      if (!confirmsOnSheet) return decide('approve', grant)
      return (await openSheet({ purpose: 'confirm', intent_id: record.id })) === 'done'
    },
  }
}

function wireGrant({ times, minutes, onlyPath }: GrantDraft, nowMs: number) {
  return {
    ...(times !== undefined && { times }),
    ...(onlyPath && { only_path: true }),
    ...(minutes !== undefined && { until: toIsoTime(nowMs + minutes * 60_000) }),
  }
}
