import { joinClassNames } from './classNames.ts'

type ChoiceChipsProps<Value extends string> = {
  /** Accessible label of the group, such as `Show`. */
  legend: string
  options: readonly { value: Value; label: string }[]
  value: Value
  onChange: (value: Value) => void
  className?: string
}

/** Radio group with all choices visible. */
export function ChoiceChips<Value extends string>({
  legend,
  options,
  value,
  onChange,
  className,
}: ChoiceChipsProps<Value>) {
  return (
    <fieldset className={joinClassNames('flex flex-wrap gap-1', className)}>
      <legend className="sr-only">{legend}</legend>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
          className={joinClassNames(
            'h-6 rounded-full border px-2 text-small',
            option.value === value
              ? 'border-edge bg-selected text-text'
              : 'border-transparent text-muted hover:bg-hover',
          )}
        >
          {option.label}
        </button>
      ))}
    </fieldset>
  )
}
