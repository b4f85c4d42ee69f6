import { Monitor, Moon, Sun } from 'lucide-react'
import { Button } from '#renderer/ui/Button.tsx'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { useRegisteredCommands } from '#renderer/ui/commands/commandRegistry.tsx'
import { chooseTheme, type ThemeChoice } from '#renderer/ui/theme/theme.ts'
import { useThemeChoice } from '#renderer/ui/theme/useTheme.ts'
import { SettingsCard, SettingsPage, SettingsRow } from '../SettingsPage.tsx'

const themes = [
  { choice: 'system', label: 'System', icon: Monitor },
  { choice: 'light', label: 'Light', icon: Sun },
  { choice: 'dark', label: 'Dark', icon: Moon },
] as const satisfies readonly { choice: ThemeChoice; label: string; icon: typeof Sun }[]

export function AppearanceSection() {
  const preferences = useRegisteredCommands().find(({ id }) => id === 'terminal.preferences')
  return (
    <SettingsPage title="Appearance" description="How this window looks. Saved on this device.">
      <SettingsCard>
        <SettingsRow label="Theme" hint="System follows your system setting.">
          <ThemeChoices />
        </SettingsRow>
        <SettingsRow label="Terminals" hint="Colors, text, cursor and bell.">
          <Button onClick={() => preferences?.run()}>Terminal preferences…</Button>
        </SettingsRow>
      </SettingsCard>
    </SettingsPage>
  )
}

function ThemeChoices() {
  const present = useThemeChoice()
  return (
    <fieldset className="flex rounded-control border border-edge bg-control p-0.5 shadow-control">
      <legend className="sr-only">Theme</legend>
      {themes.map(({ choice, label, icon: Icon }) => (
        <label
          key={choice}
          className={joinClassNames(
            'flex h-6.5 items-center gap-1.5 rounded-small px-2.5 text-small font-medium has-focus-visible:outline-2 has-focus-visible:outline-accent',
            choice === present ? 'bg-selected text-text' : 'text-muted hover:text-text',
          )}
        >
          <input
            type="radio"
            name="theme"
            value={choice}
            checked={choice === present}
            onChange={() => chooseTheme(choice)}
            className="sr-only"
          />
          <Icon aria-hidden className="size-3.5" />
          {label}
        </label>
      ))}
    </fieldset>
  )
}
