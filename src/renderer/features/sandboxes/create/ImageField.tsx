import { Button } from '#renderer/ui/Button.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { formatSize } from '#renderer/ui/sizeText.ts'
import type { Image } from '#shared/contract/images.ts'
import type { RuntimeReport } from '#shared/contract/sandboxes.ts'
import { getBaseName } from '../baseName.ts'

type ImageFieldProps = {
  images: readonly Image[]
  value: string | undefined
  runtime: RuntimeReport | undefined
  error: string | undefined
  /** Called with undefined if the runtime's base is selected. */
  onChange: (image: Image | undefined) => void
  onManage: () => void
}

const base = 'base of the runtime' // image names cannot contain spaces

export function ImageField({ images, value, runtime, error, onChange, onManage }: ImageFieldProps) {
  return (
    <div className="flex items-end gap-2">
      <div className="min-w-0 flex-1">
        <Select
          label="Image"
          value={value ?? base}
          options={[
            {
              value: base,
              label: runtime ? getBaseName(runtime.name) : 'Default system',
              detail: 'Ready at once, no download.',
            },
            ...images.map(toImageOption),
          ]}
          onChange={(name) => onChange(images.find((it) => it.name === name))}
          error={error}
        />
      </div>
      <Button onClick={onManage}>Images…</Button>
    </div>
  )
}

function toImageOption({ name, runtime, status, detail, size_bytes }: Image) {
  const size = size_bytes === null ? '' : ` · ${formatSize(size_bytes)}`
  return {
    value: name,
    label: name,
    detail: status === 'ready' ? `${runtime}${size}` : detail,
    disabled: status !== 'ready',
  }
}
