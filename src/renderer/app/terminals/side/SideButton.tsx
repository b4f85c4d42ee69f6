import { PanelRight } from 'lucide-react'
import { sideKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { IconButton } from '#renderer/ui/IconButton.tsx'
import type { Side } from './useSide.ts'

export function SideButton({ side }: { side: Side }) {
  if (!side.tab) return null
  return (
    <IconButton
      label="Sandbox details"
      icon={PanelRight}
      size="small"
      shortcut={sideKeys}
      aria-pressed={side.open}
      onClick={() => side.setOpen(!side.open)}
    />
  )
}
