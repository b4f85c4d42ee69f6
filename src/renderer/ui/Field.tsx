import { type ReactNode, useId } from 'react'
import { joinClassNames } from './classNames.ts'

/** Shared class names of all text inputs. */
export const inputClassName =
  'h-8 w-full min-w-0 rounded-control border border-edge bg-control px-2.5 text-text shadow-control transition-colors duration-100 hover:not-disabled:bg-control-hover focus-visible:outline-offset-0 aria-invalid:border-negative disabled:opacity-50'

export type FieldTexts = {
  label: string
  /** Whether the label is only exposed to screen readers. */
  labelHidden?: boolean
  hint?: ReactNode
  error?: string | undefined
}

/**
 * Unit inside the control, at its end, such as `MB`. Requires a relatively positioned parent shared with the control.
 */
export function FieldUnit({ children }: { children: string }) {
  return (
    <span aria-hidden className="pointer-events-none absolute inset-y-0 right-2.5 flex items-center text-faint">
      {children}
    </span>
  )
}

type FieldControl = { id: string; 'aria-describedby'?: string; 'aria-invalid'?: true }

type FieldProps = FieldTexts & {
  aside?: ReactNode
  children: (control: FieldControl, labelId: string) => ReactNode
}

export function Field({ label, labelHidden = false, hint, error, aside, children }: FieldProps) {
  const id = useId()
  const labelId = `${id}-label`
  const note = error ?? hint
  return (
    <div className="flex min-w-0 flex-col gap-1.5">
      <div className={joinClassNames('flex items-baseline justify-between gap-2', labelHidden && 'sr-only')}>
        <label id={labelId} htmlFor={id} className="font-medium text-text">
          {label}
        </label>
        {aside}
      </div>
      {children(
        {
          id,
          ...(note !== undefined && { 'aria-describedby': `${id}-note` }),
          ...(error !== undefined && { 'aria-invalid': true }),
        },
        labelId,
      )}
      {note !== undefined && (
        <p
          id={`${id}-note`}
          className={joinClassNames('text-small', error === undefined ? 'text-faint' : 'text-negative')}
        >
          {note}
        </p>
      )}
    </div>
  )
}
