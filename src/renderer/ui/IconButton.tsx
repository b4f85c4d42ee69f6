import type { LucideIcon } from 'lucide-react'
import type { ComponentProps } from 'react'
import { joinClassNames } from './classNames.ts'
import { Tooltip } from './Tooltip.tsx'

type IconButtonProps = Omit<ComponentProps<'button'>, 'children' | 'aria-label'> & {
  /** Accessible label of the action, shown as a tooltip. */
  label: string
  icon: LucideIcon
  size?: 'small' | 'medium'
  shortcut?: string | undefined
  tooltipSide?: 'top' | 'right' | 'bottom' | 'left'
}

export function IconButton({
  label,
  icon: Icon,
  size = 'medium',
  shortcut,
  tooltipSide = 'bottom',
  className,
  ...rest
}: IconButtonProps) {
  return (
    <Tooltip content={label} shortcut={shortcut} side={tooltipSide}>
      <button
        type="button"
        {...rest}
        aria-label={label}
        className={joinClassNames(
          'inline-flex shrink-0 items-center justify-center rounded-control text-muted transition-colors duration-100',
          'hover:not-disabled:bg-hover hover:not-disabled:text-text aria-expanded:bg-selected aria-pressed:bg-selected aria-pressed:text-text disabled:opacity-45',
          size === 'medium' ? 'size-7' : 'size-6',
          className,
        )}
      >
        <Icon aria-hidden className={size === 'medium' ? 'size-4' : 'size-3.5'} />
      </button>
    </Tooltip>
  )
}
