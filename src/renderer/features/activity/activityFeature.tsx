import { ScrollText } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/place.ts'

const Screen = lazy(async () => ({ default: (await import('./ActivityScreen.tsx')).ActivityScreen }))

export const activityFeature: Feature = {
  id: 'activity',
  title: 'Activity',
  icon: ScrollText,
  Screen,
  commands: [
    {
      id: 'activity.open',
      title: 'Open activity',
      section: 'Activity',
      icon: ScrollText,
      keywords: ['log', 'history', 'timeline', 'audit', 'what happened'],
      run: () => goTo('activity'),
    },
  ],
}
