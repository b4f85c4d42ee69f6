import { NumberField } from '#renderer/ui/NumberField.tsx'
import { sandboxLimits } from '#shared/contract/sandboxes.ts'
import type { CreateForm, FieldErrors } from './form.ts'

type ResourceFieldsProps = { form: CreateForm; errors: FieldErrors; change: (part: Partial<CreateForm>) => void }

const { vcpu, memoryMb, diskGb } = sandboxLimits

export function ResourceFields({ form, errors, change }: ResourceFieldsProps) {
  return (
    <div className="grid grid-cols-3 gap-3">
      <NumberField
        label="vCPU"
        value={form.vcpu}
        onChange={(it) => change({ vcpu: it })}
        min={vcpu.min}
        max={vcpu.max}
        hint={`${vcpu.min} to ${vcpu.max}`}
        error={errors.vcpu}
      />
      <NumberField
        label="Memory"
        unit="MB"
        step={512}
        value={form.memoryMb}
        onChange={(it) => change({ memoryMb: it })}
        min={memoryMb.min}
        max={memoryMb.max}
        hint={`${memoryMb.min} to ${memoryMb.max}`}
        error={errors.memory_mb}
      />
      <NumberField
        label="Disk"
        unit="GB"
        value={form.diskGb}
        onChange={(it) => change({ diskGb: it })}
        min={diskGb.min}
        max={diskGb.max}
        hint={`${diskGb.min} to ${diskGb.max}`}
        error={errors.disk_gb}
      />
    </div>
  )
}
