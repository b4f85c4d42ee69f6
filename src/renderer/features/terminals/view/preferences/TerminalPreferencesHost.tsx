import { Settings2 } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { useCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { preferencesKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { onOpenPreferences, openPreferences } from './openPreferences.ts'

const Dialog = lazy(async () => ({ default: (await import('./PreferencesDialog.tsx')).PreferencesDialog }))

/** Dialog of terminal preferences. Mounted once on each page with terminals. */
export function TerminalPreferencesHost() {
  const [open, setOpen] = useState(false)
  useEffect(() => onOpenPreferences(() => setOpen(true)), [])
  useCommands([
    {
      id: 'terminal.preferences',
      title: 'Terminal preferences…',
      section: 'Terminal',
      icon: Settings2,
      shortcut: preferencesKeys,
      keywords: ['settings', 'options', 'theme', 'colors', 'font', 'cursor', 'bell'],
      run: openPreferences,
    },
  ])
  if (!open) return null
  return (
    <Suspense fallback={null}>
      <Dialog onClose={() => setOpen(false)} />
    </Suspense>
  )
}
