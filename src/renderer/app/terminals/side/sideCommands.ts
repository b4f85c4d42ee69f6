import { PanelRight } from 'lucide-react'
import type { Command } from '#renderer/ui/commands/commandRegistry.tsx'
import { sideKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { sidePanels } from '../sidePanels.ts'
import type { Side } from './useSide.ts'

export function createSideCommands(side: Side): Command[] {
  if (!side.tab) return []
  const section = 'Details'
  return [
    {
      id: 'side.toggle',
      title: side.open ? 'Hide sandbox details' : 'Show sandbox details',
      section,
      icon: PanelRight,
      shortcut: sideKeys,
      keywords: ['panel', 'side'],
      run: () => side.setOpen(!side.open),
    },
    ...sidePanels.map(({ id, title, icon, shortcut }) => ({
      id: `side.show.${id}`,
      title: `Show ${title.toLowerCase()}`,
      section,
      icon,
      ...(shortcut && { shortcut }),
      run: () => (side.open && side.tab?.id === id ? side.setOpen(false) : side.show(id)),
    })),
  ]
}
