import { PanelLeft } from 'lucide-react'
import { IconButton } from '../IconButton.tsx'

type ListButtonProps = {
  label: string
  open: boolean
  onOpenChange: (open: boolean) => void
}

/** Button that opens the list in windows too narrow to show it beside the content. */
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
