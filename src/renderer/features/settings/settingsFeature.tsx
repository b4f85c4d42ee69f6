import { Settings } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'
import { settingsSections } from './settingsSections.ts'

const Screen = lazy(async () => ({ default: (await import('./SettingsScreen.tsx')).SettingsScreen }))

export const settingsFeature: Feature = {
  id: 'settings',
  title: 'Settings',
  icon: Settings,
  letter: 's',
  keywords: ['preferences', 'configuration'],
  Screen,
  commands: settingsSections.map(({ id, title, icon, keywords }) => ({
    id: `settings.${id}`,
    title: `Settings: ${title}`,
    section: 'Settings',
    icon,
    keywords,
    run: () => goTo('settings', id),
  })),
}
