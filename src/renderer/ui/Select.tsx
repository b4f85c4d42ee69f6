import { Check, ChevronDown } from 'lucide-react'
import { Select as Primitive } from 'radix-ui'
import { classNames } from './classNames.ts'
import { Field, type FieldTexts, inputLook } from './Field.tsx'

export type SelectOption<Value extends string> = {
  value: Value
  label: string
  detail?: string
  disabled?: boolean
}

type SelectProps<Value extends string> = FieldTexts & {
  value: Value
  onChange: (value: Value) => void
  options: readonly SelectOption<Value>[]
  disabled?: boolean
}

export function Select<Value extends string>({
  value,
  onChange,
  options,
  disabled = false,
  ...texts
}: SelectProps<Value>) {
  const choose = (chosen: string) => {
    const option = options.find((it) => it.value === chosen)
    if (option) onChange(option.value)
  }
  return (
    <Field {...texts}>
      {(control) => (
        <Primitive.Root value={value} onValueChange={choose} disabled={disabled}>
          <Primitive.Trigger
            {...control}
            className={classNames(inputLook, 'flex items-center justify-between gap-2 text-left')}
          >
            <span className="truncate">
              <Primitive.Value>{options.find((it) => it.value === value)?.label ?? value}</Primitive.Value>
            </span>
            <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          </Primitive.Trigger>
          <Primitive.Portal>
            <Primitive.Content
              position="popper"
              sideOffset={4}
              collisionPadding={8}
              className="animate-appear z-50 max-h-80 min-w-(--radix-select-trigger-width) overflow-hidden rounded-card bg-raised p-1 shadow-popover"
            >
              <Primitive.Viewport>
                {options.map(({ value: each, label, detail, disabled: unusable = false }) => (
                  <Primitive.Item
                    key={each}
                    value={each}
                    disabled={unusable}
                    className="relative flex min-h-7 select-none items-center gap-2 rounded-small py-1 pr-2 pl-7 outline-none data-disabled:opacity-50 data-highlighted:bg-hover"
                  >
                    <Primitive.ItemIndicator className="absolute left-2">
                      <Check aria-hidden className="size-3.5 text-accent" />
                    </Primitive.ItemIndicator>
                    <div className="min-w-0">
                      <Primitive.ItemText>{label}</Primitive.ItemText>
                      {detail && <div className="max-w-80 text-small text-faint">{detail}</div>}
                    </div>
                  </Primitive.Item>
                ))}
              </Primitive.Viewport>
            </Primitive.Content>
          </Primitive.Portal>
        </Primitive.Root>
      )}
    </Field>
  )
}
