import { PanelLeft } from 'lucide-react'
import { IconButton } from '../IconButton.tsx'

type ListButtonProps = {
  /** Label of the list: `Requests`. */
  label: string
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** For a window without room for the list beside the rest. */
export function ListButton({ label, open, onOpenChange }: ListButtonProps) {
  return (
    <IconButton
      label={open ? `Hide list: ${label}` : `Show list: ${label}`}
      icon={PanelLeft}
      size="small"
      aria-expanded={open}
      onClick={() => onOpenChange(!open)}
    />
  )
}
