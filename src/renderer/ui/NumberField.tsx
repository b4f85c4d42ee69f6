import { useState } from 'react'
import { Field, type FieldTexts, FieldUnit, inputClassName } from './Field.tsx'

type NumberFieldProps = FieldTexts & {
  /** `NaN` if the text is not a number. */
  value: number
  /** Called for every change, including values outside the limits, which the caller must validate. */
  onChange: (value: number) => void
  min: number
  max: number
  /** Step of the arrow keys. */
  step?: number
  /** Unit shown inside the field, such as `MB`. */
  unit?: string
}

/**
 * Field for a whole number. Preserves the text as typed; for values outside the limits, shows an error with the limits.
 */
export function NumberField({ value, onChange, min, max, step = 1, unit, ...texts }: NumberFieldProps) {
  const [left, setLeft] = useState(false)
  const [draft, setDraft] = useState('')
  const error = texts.error ?? (left ? validateNumber(value, { min, max }) : undefined)
  return (
    <Field {...texts} error={error}>
      {(control) => (
        <span className="relative">
          <input
            {...control}
            inputMode="numeric"
            role="spinbutton"
            aria-valuenow={Number.isNaN(value) ? undefined : value}
            aria-valuemin={min}
            aria-valuemax={max}
            autoComplete="off"
            value={Object.is(parseWholeNumber(draft), value) ? draft : value}
            onChange={(event) => {
              setDraft(event.target.value)
              onChange(parseWholeNumber(event.target.value))
            }}
            onKeyDown={(event) => {
              const direction = { ArrowUp: 1, ArrowDown: -1 }[event.key]
              if (direction === undefined || Number.isNaN(value)) return
              event.preventDefault()
              onChange(Math.min(max, Math.max(min, value + direction * step)))
            }}
            onBlur={() => setLeft(true)}
            className={`${inputClassName} tabular-nums`}
          />
          {unit && <FieldUnit>{unit}</FieldUnit>}
        </span>
      )}
    </Field>
  )
}

/** Returns the error of a number, such as `Use 512 to 8192.` */
export function validateNumber(value: number, { min, max }: { min: number; max: number }): string | undefined {
  return Number.isInteger(value) && value >= min && value <= max ? undefined : `Use ${min} to ${max}.`
}

/** @returns `NaN` if the text is not a whole number */
export function parseWholeNumber(written: string): number {
  return /^\d{1,15}$/.test(written.trim()) ? Number(written) : Number.NaN
}
