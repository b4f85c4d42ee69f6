import { TextField } from './TextField.tsx'

type DateRangeProps = {
  /** Days as `2026-11-23`, or empty. */
  from: string
  to: string
  /** Behind them, in small: whose days they are. */
  note?: string
  onChange: (changed: { from: string } | { to: string }) => void
}

/** Two days, of which either may be left open. */
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
