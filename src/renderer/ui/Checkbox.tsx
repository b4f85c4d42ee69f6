import { type ReactNode, useId } from 'react'

type CheckboxProps = {
  label: string
  hint?: ReactNode
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
}

export function Checkbox({ label, hint, checked, onChange, disabled = false }: CheckboxProps) {
  const id = useId()
  return (
    <div className="flex min-w-0 items-start gap-2">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(event) => onChange(event.target.checked)}
        {...(hint !== undefined && { 'aria-describedby': `${id}-note` })}
        className="mt-0.5 size-4 shrink-0 rounded-small"
      />
      <div className="min-w-0">
        <label htmlFor={id} className="text-text">
          {label}
        </label>
        {hint !== undefined && (
          <p id={`${id}-note`} className="text-small text-faint">
            {hint}
          </p>
        )}
      </div>
    </div>
  )
}
