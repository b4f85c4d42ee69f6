import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent, useLocalStatus } from '#renderer/api/AgentProvider.tsx'
import { useWallet } from '#renderer/api/useWallet.ts'
import { useSecurePrompt } from '#renderer/ui/securePromptContext.ts'
import { AppError } from '#shared/appError.ts'
import { decideIntent, type IntentRecord } from '#shared/contract/intents.ts'
import { toIsoTime } from '#shared/time.ts'
import { patchInbox } from '../inbox/useInbox.ts'
import type { GrantDraft } from './describeGrant.ts'

type Deed = 'deny' | 'approve'
/** Decides a request, after any required unlock or confirmation. */
export function useDecision(record: IntentRecord) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  // Tool calls are not signed.
  const isLocked = useWallet().data?.state === 'locked' && record.kind !== 'tool.call'
  const confirmsOnSecurePrompt = useLocalStatus()?.shell !== 'electron' && record.needs_confirmation
  const openSecurePrompt = useSecurePrompt()
  const [busy, setBusy] = useState<Deed>()
  const [error, setError] = useState<unknown>()

  /** Unlocking returns the user to the same decision and approves nothing. */
  const unlock = () => openSecurePrompt({ purpose: 'unlock' })

  const decide = async (deed: Deed, grant?: GrantDraft): Promise<boolean> => {
    if (busy !== undefined) return false
    setBusy(deed)
    setError(undefined)
    try {
      const intent = await agent(decideIntent, {
        intentId: record.id,
        approve: deed === 'approve',
        ...(grant && { grant: grantToWire(grant, Date.now()) }),
      })
      patchInbox(queryClient, intent)
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
    /** A secure prompt for confirmation also unlocks the wallet. */
    needsUnlock: isLocked && !(confirmsOnSecurePrompt && record.decision === null),
    busy,
    error,
    unlock,
    deny: () => decide('deny'),
    async approve(grant?: GrantDraft): Promise<boolean> {
      if (!confirmsOnSecurePrompt) return decide('approve', grant)
      return (await openSecurePrompt({ purpose: 'confirm', intent_id: record.id })) === 'done'
    },
  }
}

function grantToWire({ times, minutes, onlyPath }: GrantDraft, nowMs: number) {
  return {
    ...(times !== undefined && { times }),
    ...(onlyPath && { only_path: true }),
    ...(minutes !== undefined && { until: toIsoTime(nowMs + minutes * 60_000) }),
  }
}
