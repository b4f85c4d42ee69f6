import { Search, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './IconButton.tsx'
import { Select, type SelectOption } from './Select.tsx'
import { TextField } from './TextField.tsx'

/** Filters of a list. `of` names the list, such as `history`. */
export function FilterBar({ of, children }: { of: string; children: ReactNode }) {
  return (
    <search aria-label={`Filter ${of}`} className="flex flex-wrap items-center gap-2">
      {children}
    </search>
  )
}

type FilterSearchProps = {
  label: string
  placeholder?: string
  value: string
  onChange: (text: string) => void
}

export function FilterSearch({ label, placeholder = label, value, onChange }: FilterSearchProps) {
  return (
    <div className="relative w-64 max-narrow:w-full">
      <Search aria-hidden className="absolute top-2.25 left-2.5 z-1 size-3.5 text-faint" />
      <TextField
        type="search"
        label={label}
        labelHidden
        placeholder={placeholder}
        value={value}
        onChange={onChange}
        onKeyDown={(event) => event.key === 'Escape' && onChange('')}
        maxLength={200}
        className="px-8 [&::-webkit-search-cancel-button]:hidden"
      />
      {value !== '' && (
        <IconButton
          size="small"
          label="Clear search"
          icon={X}
          onClick={() => onChange('')}
          className="absolute top-1 right-1"
        />
      )}
    </div>
  )
}

type FilterSelectProps<Value extends string> = {
  label: string
  value: Value
  options: readonly SelectOption<Value>[]
  onChange: (value: Value) => void
}

export function FilterSelect<Value extends string>(props: FilterSelectProps<Value>) {
  return (
    <div className="w-38">
      <Select labelHidden {...props} />
    </div>
  )
}

type FilterOneProps = {
  label: string
  /** Label of the unfiltered option, such as `All models`. */
  all: string
  /** Empty for no filter. */
  value: string
  options: readonly SelectOption<string>[]
  onChange: (value: string) => void
}

/** Filter by one value; hidden without options. */
export function FilterOne({ label, all, value, options, onChange }: FilterOneProps) {
  if (options.length === 0) return null
  return (
    <FilterSelect
      label={label}
      value={value || everyOne}
      options={[{ value: everyOne, label: all }, ...options]}
      onChange={(chosen) => onChange(chosen === everyOne ? '' : chosen)}
    />
  )
}

const everyOne = 'every one'
