import { Checkbox } from '#renderer/ui/Checkbox.tsx'
import { Select } from '#renderer/ui/Select.tsx'
import { getProviderTitle } from '#shared/contract/families.ts'
import { useModels } from '../models/useModels.ts'

type KeyModelsProps = {
  /** Selected models; undefined for all. */
  chosen: readonly string[] | undefined
  onChange: (chosen: readonly string[] | undefined) => void
  error: string | undefined
}

export function KeyModels({ chosen, onChange, error }: KeyModelsProps) {
  const models = useModels().data ?? []
  return (
    <div className="flex flex-col gap-2">
      <Select
        label="Models"
        value={chosen ? 'some' : 'all'}
        error={error}
        options={[
          { value: 'all', label: 'All models', detail: 'Including models you add later.' },
          { value: 'some', label: 'Only some models' },
        ]}
        onChange={(which) => onChange(which === 'all' ? undefined : [])}
      />
      {chosen && (
        <fieldset className="max-h-44 overflow-auto rounded-control border border-line px-3 py-2">
          <legend className="sr-only">Allowed models</legend>
          <div className="flex flex-col gap-1.5">
            {models.map(({ id, provider }) => (
              <Checkbox
                key={id}
                label={id}
                hint={getProviderTitle(provider)}
                checked={chosen.includes(id)}
                onChange={(on) => onChange(on ? [...chosen, id] : chosen.filter((it) => it !== id))}
              />
            ))}
          </div>
        </fieldset>
      )}
    </div>
  )
}
