import {
  Command as CommandIcon,
  Keyboard,
  Monitor,
  Moon,
  PanelLeftClose,
  PanelLeftOpen,
  RotateCw,
  Sun,
} from 'lucide-react'
import type { Command } from '../ui/commands/commandRegistry.tsx'
import { chooseTheme } from '../ui/theme/theme.ts'
import { features, listKeys } from './features.ts'
import { goToSection } from './useSection.ts'
import type { SectionLabels } from './useSectionLabels.ts'

type WindowCommandsOptions = {
  open: (overlay: 'palette' | 'shortcuts') => void
  labels: SectionLabels
}

export function createWindowCommands({ open, labels }: WindowCommandsOptions): Command[] {
  return [
    ...features.map((feature) => ({
      id: `window.go.${feature.id}`,
      title: `Go to ${feature.title}`,
      section: 'Window',
      icon: feature.icon,
      shortcut: listKeys(feature),
      ...(feature.keywords && { keywords: feature.keywords }),
      run: () => goToSection(feature.id),
    })),
    {
      id: 'window.palette',
      title: 'Find a command',
      section: 'Window',
      icon: CommandIcon,
      shortcut: 'mod+k, mod+shift+p',
      keywords: ['palette', 'search', 'actions'],
      run: () => open('palette'),
    },
    {
      id: 'window.shortcuts',
      title: 'Show keyboard shortcuts',
      section: 'Window',
      icon: Keyboard,
      shortcut: '?',
      keywords: ['help', 'keys'],
      run: () => open('shortcuts'),
    },
    {
      id: 'window.labels',
      title: labels.visible ? 'Hide section names' : 'Show section names',
      section: 'Window',
      icon: labels.visible ? PanelLeftClose : PanelLeftOpen,
      keywords: ['rail', 'sidebar', 'labels', 'expand'],
      run: labels.toggle,
    },
    {
      id: 'window.theme.system',
      title: 'Use the system theme',
      section: 'Window',
      icon: Monitor,
      keywords: ['appearance', 'dark', 'light'],
      run: () => chooseTheme('system'),
    },
    {
      id: 'window.theme.light',
      title: 'Use the light theme',
      section: 'Window',
      icon: Sun,
      keywords: ['appearance'],
      run: () => chooseTheme('light'),
    },
    {
      id: 'window.theme.dark',
      title: 'Use the dark theme',
      section: 'Window',
      icon: Moon,
      keywords: ['appearance'],
      run: () => chooseTheme('dark'),
    },
    {
      id: 'window.reload',
      title: 'Reload window',
      section: 'Window',
      icon: RotateCw,
      keywords: ['reload', 'refresh'],
      run: () => window.location.reload(),
    },
  ]
}
