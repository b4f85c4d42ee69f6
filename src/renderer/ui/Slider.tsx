import { Slider as Primitive } from 'radix-ui'
import { useId } from 'react'

type SliderProps = {
  label: string
  value: number
  onChange: (value: number) => void
  min: number
  max: number
  step?: number
  /** The value in words, shown and read aloud: `512 MB`. */
  format?: (value: number) => string
  hint?: string
}

export function Slider({ label, value, onChange, min, max, step = 1, format = String, hint }: SliderProps) {
  const id = useId()
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className="flex items-baseline justify-between gap-2">
        <span id={id} className="font-medium text-text">
          {label}
        </span>
        <output className="tabular-nums text-muted">{format(value)}</output>
      </div>
      <Primitive.Root
        value={[value]}
        onValueChange={([next]) => next !== undefined && onChange(next)}
        min={min}
        max={max}
        step={step}
        className="relative flex h-5 touch-none select-none items-center"
      >
        <Primitive.Track className="relative h-1 w-full rounded-full bg-selected">
          <Primitive.Range className="absolute h-full rounded-full bg-accent-solid" />
        </Primitive.Track>
        <Primitive.Thumb
          aria-labelledby={id}
          aria-valuetext={format(value)}
          className="block size-3.5 rounded-full border border-edge bg-on-solid shadow-control"
        />
      </Primitive.Root>
      {hint && <p className="text-small text-faint">{hint}</p>}
    </div>
  )
}
