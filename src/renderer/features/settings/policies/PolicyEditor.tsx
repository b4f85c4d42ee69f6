import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { NumberField } from '#renderer/ui/NumberField.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { useUnsaved } from '#renderer/ui/unsaved/useUnsaved.ts'
import type { Policy } from '#shared/contract/intents.ts'
import { SettingsCard, SettingsGroup, SettingsRow } from '../SettingsPage.tsx'
import { RuleList } from './RuleList.tsx'
import { SavePolicyDialog } from './SavePolicyDialog.tsx'
import { usePolicyDraft } from './usePolicyDraft.ts'

export function PolicyEditor({ policy }: { policy: Policy }) {
  const editing = usePolicyDraft(policy)
  const { draft, faults, change } = editing
  const [saving, setSaving] = useState(false)
  useUnsaved(editing.isWritten, ['settings', 'policies'])
  return (
    <>
      <RuleList rules={draft.rules} faults={faults.rules} onChange={(rules) => change({ rules })} />
      <SettingsGroup title="Approval">
        <SettingsCard>
          <SettingsRow label="Extra confirmation above" hint="Asks for your passphrase in a protected dialog.">
            <div className="w-40">
              <TextField
                label="Extra confirmation above, in dollars"
                labelHidden
                value={draft.confirmAbove}
                onChange={(confirmAbove) => change({ confirmAbove })}
                error={faults.confirmAbove}
                inputMode="decimal"
                unit="USD"
              />
            </div>
          </SettingsRow>
          <SettingsRow label="Requests expire after" hint="Undecided requests are refused.">
            <div className="w-40">
              <NumberField
                label="Minutes until a request expires"
                labelHidden
                value={draft.expiryMinutes}
                onChange={(expiryMinutes) => change({ expiryMinutes })}
                min={1}
                max={1440}
                unit="min"
              />
            </div>
          </SettingsRow>
        </SettingsCard>
      </SettingsGroup>
      <SaveBar
        words={describeState(editing)}
        written={editing.isWritten}
        ready={editing.changes.length > 0}
        onDiscard={editing.discard}
        onSave={() => setSaving(true)}
      />
      {saving && editing.wanted && (
        <SavePolicyDialog
          edited={editing.wanted}
          changes={editing.changes}
          onSaved={editing.saved}
          onClose={() => setSaving(false)}
        />
      )}
    </>
  )
}

function describeState({ isWritten, isOvertaken, wanted: edited, changes }: ReturnType<typeof usePolicyDraft>): string {
  if (!isWritten) return 'No unsaved changes.'
  if (edited === undefined) return 'Fix the errors above.'
  if (isOvertaken) return 'The policy changed elsewhere. Saving overwrites that change.'
  return changes.length === 1 ? '1 unsaved change.' : `${changes.length} unsaved changes.`
}

type SaveBarProps = { words: string; written: boolean; ready: boolean; onDiscard: () => void; onSave: () => void }

function SaveBar({ words, written, ready, onDiscard, onSave }: SaveBarProps) {
  return (
    <div className="sticky bottom-0 z-10 -mx-2 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-canvas px-2 py-2.5">
      <p role="status" className="min-w-48 flex-1 text-muted">
        {words}
      </p>
      <Button disabled={!written} onClick={onDiscard}>
        Discard
      </Button>
      <Button variant="primary" disabled={!ready} onClick={onSave}>
        Save…
      </Button>
    </div>
  )
}
