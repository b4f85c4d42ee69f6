import { TextField } from './TextField.tsx'

type DateRangeProps = {
  /** Days such as `2026-11-23`, or empty. */
  from: string
  to: string
  /** Small text after the fields, such as the time zone. */
  note?: string
  onChange: (changed: { from: string } | { to: string }) => void
}

export function DateRange({ from, to, note, onChange }: DateRangeProps) {
  return (
    <div className="flex items-center gap-2">
      <TextField
        type="date"
        label="From"
        labelHidden
        value={from}
        max={to}
        onChange={(value) => onChange({ from: value })}
        className="w-34"
      />
      <span aria-hidden className="text-faint">
        –
      </span>
      <TextField
        type="date"
        label="To"
        labelHidden
        value={to}
        min={from}
        onChange={(value) => onChange({ to: value })}
        className="w-34"
      />
      {note !== undefined && <span className="text-small text-faint">{note}</span>}
    </div>
  )
}
