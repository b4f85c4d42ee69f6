import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Select } from '#renderer/ui/Select.tsx'
import { Region, type RuntimeReport } from '#shared/contract/sandboxes.ts'
import { formatIdle, listIdleChoices } from '../idleLabels.ts'
import type { CreateForm, FieldErrors } from './form.ts'

type AdvancedFieldsProps = {
  form: CreateForm
  errors: FieldErrors
  runtimes: readonly RuntimeReport[] | undefined
  runtime: RuntimeReport | undefined
  change: (part: Partial<CreateForm>) => void
}

const regions = [
  { value: Region.enum['eu-north'], label: 'eu-north' },
  { value: Region.enum['us-east'], label: 'us-east' },
]

/** Fields that most sandboxes leave at their defaults. Opens when one of them is invalid. */
export function AdvancedFields({ form, errors, runtimes, runtime, change }: AdvancedFieldsProps) {
  const [opened, setOpened] = useState(false)
  const wrong = [errors.idle_minutes, errors.region, errors.runtime].some((it) => it !== undefined)
  const open = opened || wrong
  return (
    <div>
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpened(!open)}
        className="-ml-1 flex h-6 items-center gap-1 rounded-small pr-1.5 font-medium text-muted hover:text-text"
      >
        <ChevronRight aria-hidden className={joinClassNames('size-3.5 transition-transform', open && 'rotate-90')} />
        Advanced
      </button>
      {open && (
        <div className="grid grid-cols-2 gap-3 pt-2">
          <Select
            label="Stop when idle"
            options={listIdleChoices(form.idleMinutes).map((idleChoice) => ({
              value: String(idleChoice),
              label: formatIdle(idleChoice),
            }))}
            value={String(form.idleMinutes)}
            onChange={(value) => change({ idleMinutes: value === 'null' ? null : Number(value) })}
            hint={form.idleMinutes === null ? undefined : 'Files are kept. Start it again to continue.'}
            error={errors.idle_minutes}
          />
          <Select
            label="Region"
            options={regions}
            value={form.region}
            onChange={(region) => change({ region })}
            error={errors.region}
          />
          {runtimes && runtimes.length > 1 && (
            <Select
              label="Runtime"
              options={runtimes.map(toRuntimeOption)}
              value={runtime?.name ?? ''}
              onChange={(name) => change({ runtime: name, image: undefined })}
              error={errors.runtime}
            />
          )}
        </div>
      )}
    </div>
  )
}

function toRuntimeOption({ name, available, detail }: RuntimeReport) {
  return { value: name, label: name, detail, disabled: !available }
}
