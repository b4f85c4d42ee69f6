import { TextField } from '#renderer/ui/TextField.tsx'
import type { LimitsDraft } from './settingsDraft.ts'

type LimitFieldsProps = {
  limits: LimitsDraft
  onChange: (limits: LimitsDraft) => void
  faults: { soft?: string | undefined; hard?: string | undefined }
}

export function LimitFields({ limits, onChange, faults }: LimitFieldsProps) {
  return (
    <div className="grid grid-cols-2 gap-3">
      <TextField
        label="Warn at"
        inputMode="decimal"
        placeholder="Never"
        unit="USD"
        value={limits.soft}
        onChange={(soft) => onChange({ ...limits, soft })}
        error={faults.soft}
      />
      <TextField
        label="Stop at"
        inputMode="decimal"
        placeholder="Never"
        unit="USD"
        value={limits.hard}
        onChange={(hard) => onChange({ ...limits, hard })}
        error={faults.hard}
      />
    </div>
  )
}
