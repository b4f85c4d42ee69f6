import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { type DnsPlan, listLocalRecords, planRecords, undoPlan } from '#shared/contract/localDomains.ts'
import { domainsKey } from '../useDomains.ts'
import { buildZoneRows, toRecords, type ZoneEdits } from './zoneEdits.ts'

type ZonePlanOptions = { zone: string; edits: ZoneEdits; onApplied: () => void }

/** Plans the changes of a zone for review, and plans that revert applied changes. */
export function useZonePlan({ zone, edits, onApplied }: ZonePlanOptions) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const [plan, setPlan] = useState<DnsPlan>()
  const planning = useMutation({
    mutationFn: async () => {
      // Excludes records added elsewhere in the meantime.
      const { records: latest } = await agent(listLocalRecords, { domain: zone, fresh: true })
      return await agent(planRecords, { domain: zone, records: toRecords(buildZoneRows(latest, edits)) })
    },
    onSuccess: setPlan,
  })
  const undoing = useMutation({
    mutationFn: (planId: string) => agent(undoPlan, { planId }),
    onSuccess: setPlan,
    onError: (error) => notify.failed(error),
  })
  return {
    plan,
    error: planning.error,
    isPlanning: planning.isPending,
    review: () => planning.mutate(),
    reviewAgain: ({ undo_of: undoOf }: DnsPlan) => (undoOf === null ? planning.mutate() : undoing.mutate(undoOf)),
    undo: (planId: string) => undoing.mutate(planId),
    close() {
      setPlan(undefined)
      void readAgain(queryClient, domainsKey)
    },
    confirmApplied(applied: DnsPlan) {
      setPlan(undefined)
      onApplied()
      void readAgain(queryClient, domainsKey)
      notify.done(applied.undo_of ? 'Changes undone' : 'Changes applied', {
        ...(!applied.undo_of && { action: { label: 'Undo', run: () => undoing.mutate(applied.id) } }),
      })
    },
  }
}
