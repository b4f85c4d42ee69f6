import { useState } from 'react'
import { Field, type FieldTexts, FieldUnit, inputLook } from './Field.tsx'

type NumberFieldProps = FieldTexts & {
  value: number
  onChange: (value: number) => void
  min: number
  max: number
  step?: number
  /** Stands inside the field: `MB`. */
  unit?: string
}

/** A whole number. While it is being typed it may be anything; on leaving it is brought into its limits. */
export function NumberField({ value, onChange, min, max, step = 1, unit, ...texts }: NumberFieldProps) {
  const [draft, setDraft] = useState<string>()
  const settle = (written: string) => {
    setDraft(undefined)
    const typed = Math.round(Number(written))
    if (written.trim() !== '' && Number.isFinite(typed)) onChange(Math.min(max, Math.max(min, typed)))
  }
  return (
    <Field {...texts}>
      {(control) => (
        <span className="relative">
          <input
            {...control}
            type="number"
            inputMode="numeric"
            min={min}
            max={max}
            step={step}
            value={draft ?? value}
            onChange={(event) => {
              setDraft(event.target.value)
              const typed = event.target.valueAsNumber
              if (Number.isInteger(typed) && typed >= min && typed <= max) onChange(typed)
            }}
            onBlur={(event) => draft !== undefined && settle(event.target.value)}
            className={`${inputLook} [appearance:textfield] tabular-nums [&::-webkit-inner-spin-button]:appearance-none`}
          />
          {unit && <FieldUnit>{unit}</FieldUnit>}
        </span>
      )}
    </Field>
  )
}
