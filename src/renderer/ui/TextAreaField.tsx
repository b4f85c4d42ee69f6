import type { ComponentProps } from 'react'
import { joinClassNames } from './classNames.ts'
import { Field, type FieldTexts, inputClassName } from './Field.tsx'

type TextAreaFieldProps = FieldTexts &
  Omit<ComponentProps<'textarea'>, 'id' | 'value' | 'onChange'> & {
    value: string
    onChange: (value: string) => void
    monospaced?: boolean
  }

export function TextAreaField({
  label,
  labelHidden,
  hint,
  error,
  value,
  onChange,
  monospaced = false,
  className,
  ...rest
}: TextAreaFieldProps) {
  return (
    <Field label={label} hint={hint} error={error} {...(labelHidden !== undefined && { labelHidden })}>
      {(control) => (
        <textarea
          rows={3}
          {...rest}
          {...control}
          value={value}
          onChange={(event) => onChange(event.target.value)}
          className={joinClassNames(
            inputClassName.replace('h-8 ', ''),
            'resize-y py-1.5',
            monospaced && 'font-mono text-small',
            className,
          )}
        />
      )}
    </Field>
  )
}
