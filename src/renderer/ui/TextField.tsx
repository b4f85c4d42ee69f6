import type { ComponentProps } from 'react'
import { joinClassNames } from './classNames.ts'
import { Field, type FieldTexts, FieldUnit, inputClassName } from './Field.tsx'

type TextFieldProps = FieldTexts &
  Omit<ComponentProps<'input'>, 'id' | 'value' | 'onChange'> & {
    value: string
    onChange: (value: string) => void
    monospaced?: boolean
    /** Unit shown inside the field, such as `USD`. */
    unit?: string
  }

export function TextField({
  label,
  labelHidden,
  hint,
  error,
  value,
  onChange,
  monospaced = false,
  unit,
  className,
  ...rest
}: TextFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} {...(labelHidden !== undefined && { labelHidden })}>
      {(control) => (
        <span className="relative flex">
          <input
            type="text"
            dir="auto"
            autoComplete="off"
            spellCheck={false}
            {...rest}
            {...control}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className={joinClassNames(inputClassName, monospaced && 'font-mono text-small', unit && 'pr-12', className)}
          />
          {unit && <FieldUnit>{unit}</FieldUnit>}
        </span>
      )}
    </Field>
  )
}
