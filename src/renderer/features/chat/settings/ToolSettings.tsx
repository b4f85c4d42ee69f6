import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { type ChatTools, chatToolLimits } from '#shared/contract/chatTools.ts'
import type { Faults, ToolsDraft } from './settingsDraft.ts'

const profiles: readonly { value: ChatTools['profile']; label: string }[] = [
  { value: 'all', label: 'All tools' },
  { value: 'read-only', label: 'Read only' },
  { value: 'sandboxes', label: 'Sandboxes' },
  { value: 'domains', label: 'Domains' },
  { value: 'money', label: 'Money' },
]

type ToolSettingsProps = { tools: ToolsDraft; onChange: (tools: ToolsDraft) => void; faults: Faults }

export function ToolSettings({ tools, onChange, faults }: ToolSettingsProps) {
  const { data: sandboxes = [] } = useSandboxes()
  const put = (change: Partial<ToolsDraft>) => onChange({ ...tools, ...change })
  const places = [
    { value: '', label: 'None' },
    ...sandboxes.map(({ id, name, short_id }) => ({ value: id as string, label: name, detail: short_id })),
  ]
  const isListed = places.some(({ value }) => value === tools.sandboxId)
  return (
    <fieldset className="flex flex-col gap-3">
      <legend className="mb-1.5 font-medium">Tools</legend>
      <Checkbox
        label="Let models call tools"
        hint="Deleting and paying need your approval."
        checked={tools.enabled}
        onChange={(enabled) => put({ enabled })}
      />
      {tools.enabled && (
        <>
          <Select
            label="Allowed tools"
            value={tools.profile}
            onChange={(profile) => put({ profile })}
            options={profiles}
          />
          <Select
            label="Sandbox"
            value={tools.sandboxId}
            onChange={(sandboxId) => put({ sandboxId })}
            options={isListed ? places : [...places, { value: tools.sandboxId, label: 'Deleted sandbox' }]}
          />
          <TextField
            label="Max steps per response"
            inputMode="numeric"
            placeholder={String(chatToolLimits.steps.default)}
            value={tools.steps}
            onChange={(steps) => put({ steps })}
            error={faults.steps}
          />
          <div className="grid grid-cols-2 gap-3">
            <TextField
              label="Max cost per response ($)"
              inputMode="decimal"
              placeholder="No limit"
              value={tools.turn}
              onChange={(turn) => put({ turn })}
              error={faults.turn}
            />
            <TextField
              label="Daily tool budget ($)"
              inputMode="decimal"
              placeholder="No limit"
              value={tools.day}
              onChange={(day) => put({ day })}
              error={faults.day}
            />
          </div>
        </>
      )}
    </fieldset>
  )
}
