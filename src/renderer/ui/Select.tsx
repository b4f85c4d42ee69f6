import { Check, ChevronDown } from 'lucide-react'
import { DropdownMenu as Primitive } from 'radix-ui'
import { joinClassNames } from './classNames.ts'
import { Field, type FieldTexts, inputClassName } from './Field.tsx'
import { useLayers } from './Layers.tsx'

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
  /** Whether to look like text until hovered or focused, for use among facts. */
  quiet?: boolean
}

const quietLook =
  '-ml-1.5 h-6 max-w-full rounded-small px-1.5 text-text hover:not-disabled:bg-hover aria-expanded:bg-hover disabled:opacity-50'

export function Select<Value extends string>({
  value,
  onChange,
  options,
  disabled = false,
  quiet = false,
  ...texts
}: SelectProps<Value>) {
  const container = useLayers()
  return (
    <Field {...texts}>
      {({ id, ...control }, labelId) => (
        <Primitive.Root modal={false}>
          <Primitive.Trigger
            {...control}
            id={id}
            aria-labelledby={`${labelId} ${id}-value`}
            disabled={disabled}
            className={joinClassNames(
              quiet ? quietLook : inputClassName,
              'flex items-center gap-2 text-left',
              !quiet && 'justify-between',
            )}
          >
            <span id={`${id}-value`} className="truncate">
              {options.find((option) => option.value === value)?.label ?? value}
            </span>
            <ChevronDown aria-hidden className="size-3.5 shrink-0 text-faint" />
          </Primitive.Trigger>
          <Primitive.Portal container={container}>
            <Primitive.Content
              align="start"
              sideOffset={4}
              collisionPadding={8}
              className="animate-appear z-50 max-h-80 min-w-(--radix-dropdown-menu-trigger-width) overflow-auto rounded-card bg-raised p-1 text-text shadow-popover outline-none"
            >
              {options.map((option) => (
                <OptionRow
                  key={option.value}
                  option={option}
                  isChosen={option.value === value}
                  onChoose={() => onChange(option.value)}
                />
              ))}
            </Primitive.Content>
          </Primitive.Portal>
        </Primitive.Root>
      )}
    </Field>
  )
}

type OptionRowProps = { option: SelectOption<string>; isChosen: boolean; onChoose: () => void }

function OptionRow({ option: { label, detail, disabled = false }, isChosen, onChoose }: OptionRowProps) {
  return (
    <Primitive.Item
      role="menuitemradio"
      aria-checked={isChosen}
      textValue={label}
      disabled={disabled}
      onSelect={onChoose}
      className="flex min-h-7 select-none items-center gap-2 rounded-small px-2 py-1 outline-none data-disabled:opacity-50 data-highlighted:bg-hover"
    >
      <Check aria-hidden className={joinClassNames('size-3.5 shrink-0 text-accent', !isChosen && 'invisible')} />
      <span className="min-w-0">
        {label}
        {detail && <span className="block max-w-80 text-small text-faint">{detail}</span>}
      </span>
    </Primitive.Item>
  )
}
