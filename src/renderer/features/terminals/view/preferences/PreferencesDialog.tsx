import { useState } from 'react'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { useTheme } from '#renderer/ui/theme/useTheme.ts'
import type { TerminalTheme } from '../themes/terminalTheme.ts'
import { BehaviourPreferences } from './BehaviourPreferences.tsx'
import { PreferencesPreview } from './PreferencesPreview.tsx'
import { changePreferences, resetPreferences, useTerminalPreferences } from './preferencesStore.ts'
import { TextPreferences } from './TextPreferences.tsx'
import { ThemePicker } from './ThemePicker.tsx'
import { defaultPreferences, resolveTheme } from './terminalPreferences.ts'

/** Preferences of all terminals. Each change applies immediately. */
export function PreferencesDialog({ onClose }: { onClose: () => void }) {
  const preferences = useTerminalPreferences()
  const window = useTheme()
  const [tried, setTried] = useState<TerminalTheme>()
  const isDefault = JSON.stringify(preferences) === JSON.stringify(defaultPreferences)
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Terminal preferences"
      description="For all terminals. Saved on this device."
      width="wide"
      footer={
        <>
          <Button className="mr-auto" disabled={isDefault} onClick={resetPreferences}>
            Reset to defaults
          </Button>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-6">
        <div className="sticky -top-1 z-10 -mx-1 bg-raised px-1 pb-1">
          <PreferencesPreview theme={tried ?? resolveTheme(preferences, window)} preferences={preferences} />
        </div>
        <ThemePicker preferences={preferences} window={window} onChange={changePreferences} onTry={setTried} />
        <TextPreferences preferences={preferences} onChange={changePreferences} />
        <BehaviourPreferences preferences={preferences} onChange={changePreferences} />
      </div>
    </Dialog>
  )
}
