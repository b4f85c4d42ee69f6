import { ScrollText } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'

const Screen = lazy(async () => ({ default: (await import('./ActivityScreen.tsx')).ActivityScreen }))

export const activityFeature: Feature = {
  id: 'activity',
  title: 'Activity',
  icon: ScrollText,
  letter: 'y',
  keywords: ['log', 'history', 'timeline', 'audit', 'what happened'],
  Screen,
}
