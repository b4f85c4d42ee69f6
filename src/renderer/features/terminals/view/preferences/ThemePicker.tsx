import { Check } from 'lucide-react'
import { joinClassNames } from '#renderer/ui/classNames.ts'
import { Select } from '#renderer/ui/Select.tsx'
import type { Theme } from '#renderer/ui/theme/theme.ts'
import type { TerminalTheme } from '../themes/terminalTheme.ts'
import { terminalThemes } from '../themes/terminalThemes.ts'
import { PreferenceGroup, type PreferencePart } from './PreferenceGroup.tsx'

type ThemePickerProps = PreferencePart & {
  window: Theme
  /** Called with the hovered theme, which is previewed before it is selected. */
  onTry: (theme: TerminalTheme | undefined) => void
}

const swatches = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'] as const

export function ThemePicker({ preferences, window, onChange, onTry }: ThemePickerProps) {
  const present = preferences.ground === 'window' ? window : preferences.ground
  const kinds: readonly Theme[] = present === 'dark' ? ['dark', 'light'] : ['light', 'dark']
  return (
    <PreferenceGroup title="Colors">
      <div className="max-w-72">
        <Select
          label="Theme"
          value={preferences.ground}
          onChange={(ground) => onChange({ ground })}
          options={[
            { value: 'window', label: 'Follow the window' },
            { value: 'dark', label: 'Always dark' },
            { value: 'light', label: 'Always light' },
          ]}
        />
      </div>
      {kinds.map((kind) => (
        <fieldset key={kind} className="min-w-0" onPointerLeave={() => onTry(undefined)}>
          <legend className="mb-1.5 text-small text-muted">
            {kind === 'dark' ? 'When dark' : 'When light'}
            {kind === present && ' (now)'}
          </legend>
          <div className="grid grid-cols-[repeat(auto-fill,minmax(12rem,1fr))] gap-2">
            {terminalThemes
              .filter((theme) => theme.kind === kind)
              .map((theme) => (
                <ThemeCard
                  key={theme.id}
                  theme={theme}
                  isChosen={theme.id === (kind === 'dark' ? preferences.darkTheme : preferences.lightTheme)}
                  onChoose={() => onChange(kind === 'dark' ? { darkTheme: theme.id } : { lightTheme: theme.id })}
                  onTry={() => onTry(theme)}
                />
              ))}
          </div>
        </fieldset>
      ))}
    </PreferenceGroup>
  )
}

type ThemeCardProps = { theme: TerminalTheme; isChosen: boolean; onChoose: () => void; onTry: () => void }

function ThemeCard({ theme: { label, kind, colors }, isChosen, onChoose, onTry }: ThemeCardProps) {
  return (
    <label
      onPointerEnter={onTry}
      style={{ backgroundColor: colors.background, color: colors.foreground }}
      className={joinClassNames(
        'relative flex h-13 flex-col justify-center gap-1.5 rounded-control border px-2.5 has-focus-visible:outline-2 has-focus-visible:outline-accent',
        isChosen ? 'border-accent' : 'border-edge',
      )}
    >
      <input
        type="radio"
        name={`theme-${kind}`}
        checked={isChosen}
        onChange={onChoose}
        className="absolute inset-0 size-full opacity-0"
      />
      <span className="flex items-center justify-between gap-1 text-small font-medium">
        <span className="truncate">{label}</span>
        {isChosen && <Check aria-hidden className="size-3.5 shrink-0" />}
      </span>
      <span aria-hidden className="flex gap-1">
        {swatches.map((color) => (
          <span key={color} style={{ backgroundColor: colors[color] }} className="h-2 flex-1 rounded-full" />
        ))}
      </span>
    </label>
  )
}
