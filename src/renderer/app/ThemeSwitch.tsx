import { Monitor, Moon, Sun } from 'lucide-react'
import { IconButton } from '../ui/IconButton.tsx'
import { Menu } from '../ui/Menu.tsx'
import { chooseTheme, type ThemeChoice } from '../ui/theme/theme.ts'
import { useThemeChoice } from '../ui/theme/useTheme.ts'

const choices = [
  { choice: 'system', label: 'System', icon: Monitor },
  { choice: 'light', label: 'Light', icon: Sun },
  { choice: 'dark', label: 'Dark', icon: Moon },
] as const satisfies readonly { choice: ThemeChoice; label: string; icon: typeof Sun }[]

export function ThemeSwitch({ side }: { side: 'top' | 'bottom' }) {
  const present = useThemeChoice()
  const { icon } = choices.find(({ choice }) => choice === present) ?? choices[0]
  return (
    <Menu
      align="end"
      side={side}
      items={choices.map(({ choice, ...rest }) => ({
        ...rest,
        checked: choice === present,
        onSelect: () => chooseTheme(choice),
      }))}
    >
      <IconButton label="Theme" icon={icon} size="small" tooltipSide={side} />
    </Menu>
  )
}
