import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { joinClassNames } from './classNames.ts'

export type ButtonVariant = 'primary' | 'secondary' | 'ghost' | 'danger'

type ButtonProps = ComponentProps<'button'> & {
  variant?: ButtonVariant
  size?: 'small' | 'medium'
  icon?: LucideIcon
  /** Whether the action is in progress. The button keeps its size and ignores clicks. */
  busy?: boolean
}

const looks: Record<ButtonVariant, string> = {
  primary: 'bg-accent-solid text-on-solid shadow-control hover:not-disabled:bg-accent-solid-hover',
  secondary: 'border border-edge bg-control text-text shadow-control hover:not-disabled:bg-control-hover',
  ghost: 'text-muted hover:not-disabled:bg-hover hover:not-disabled:text-text',
  danger: 'bg-negative-solid text-on-solid shadow-control hover:not-disabled:bg-negative-solid-hover',
}

const sizes = { small: 'h-7 px-2.5 text-small gap-1.5', medium: 'h-8 px-3 gap-2' } as const

export function Button({
  variant = 'secondary',
  size = 'medium',
  icon: Icon,
  busy = false,
  disabled,
  className,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy || undefined}
      className={joinClassNames(
        'relative inline-flex shrink-0 select-none items-center justify-center overflow-hidden rounded-control font-medium whitespace-nowrap transition-colors duration-100',
        busy ? 'cursor-progress' : 'disabled:opacity-50',
        looks[variant],
        sizes[size],
        className,
      )}
    >
      {Icon && <Icon aria-hidden className="-ml-0.5 size-3.5 shrink-0" />}
      {children}
      {busy && (
        <span aria-hidden className="absolute inset-x-0 bottom-0 h-0.5 overflow-hidden">
          <span className="animate-slide block h-full w-1/3 bg-current opacity-70" />
        </span>
      )}
    </button>
  )
}
