import { useQueryClient } from '@tanstack/react-query'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { policyKey } from '#renderer/api/usePolicy.ts'
import { FormDialog } from '#renderer/ui/FormDialog.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useConfirmedPolicy } from '#renderer/ui/useConfirmedPolicy.ts'
import { changePolicy, type Policy } from '#shared/contract/intents.ts'
import { findRuleWarnings } from './describeRule.ts'
import type { PolicyChange } from './policyChanges.ts'
import type { SavedPolicy } from './policyDraft.ts'

type SavePolicyDialogProps = {
  edited: SavedPolicy
  changes: readonly PolicyChange[]
  onSaved: (policy: Policy) => void
  onClose: () => void
}

/** Confirms the changes before they apply. */
export function SavePolicyDialog({ edited, changes, onSaved, onClose }: SavePolicyDialogProps) {
  const agent = useAgent()
  const queryClient = useQueryClient()
  const confirmed = useConfirmedPolicy()
  const dangers = edited.rules.flatMap((rule, place) =>
    findRuleWarnings(rule, edited.rules.slice(0, place)).map((warning) => `Rule ${place + 1}: ${warning}`),
  )

  const save = async () => {
    const policy = await confirmed(() => agent(changePolicy, edited))
    queryClient.setQueryData<Policy>(policyKey, policy)
    onSaved(policy)
    notify.done('Policy saved')
    onClose()
  }

  return (
    <FormDialog
      title="Save the policy?"
      description="Applies to all new requests."
      width="medium"
      action="Save policy"
      focusesAction
      onSend={save}
      onClose={onClose}
    >
      <ul aria-label="Changes" className="flex flex-col gap-2">
        {changes.map((change) => (
          <ChangeRow key={`${change.kind} ${change.before} ${change.after}`} change={change} />
        ))}
      </ul>
      {dangers.length > 0 && (
        <section aria-label="Warnings" className="rounded-card bg-caution-soft p-3">
          <h3 className="font-semibold text-text">Check these</h3>
          <ul className="mt-1 list-disc pl-4">
            {dangers.map((danger) => (
              <li key={danger}>{danger}</li>
            ))}
          </ul>
        </section>
      )}
    </FormDialog>
  )
}

const titles = { added: 'Added', removed: 'Removed', changed: 'Changed', moved: 'Order', set: 'Changed' } as const

function ChangeRow({ change: { kind, before, after } }: { change: PolicyChange }) {
  return (
    <li className="grid grid-cols-[4.5rem_minmax(0,1fr)] gap-x-2">
      <span className="text-small leading-5 font-medium text-muted">{titles[kind]}</span>
      <div>
        {before !== undefined && <del className="block text-muted">{before}</del>}
        {after !== undefined && <ins className="block no-underline">{after}</ins>}
      </div>
    </li>
  )
}
