import { ArrowLeftRight, CirclePlus, Coins, Download, Scale } from 'lucide-react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'
import { downloadHistory } from './history/downloadHistory.ts'

const section = 'Credits'

/** `Screen` is added by the window, which combines it with the limits of other features. */
export const creditsFeature: Omit<Feature, 'Screen'> = {
  id: 'credits',
  title: 'Credits',
  icon: Coins,
  letter: 'r',
  keywords: ['balance', 'spending', 'usage', 'costs', 'money', 'tokens'],
  commands: [
    {
      id: 'credits.adjust',
      title: 'Adjust credit balance…',
      section,
      icon: Scale,
      keywords: ['set', 'lower', 'raise'],
      run: () => goTo('credits', 'adjust'),
    },
    {
      id: 'credits.grant',
      title: 'Grant credits…',
      section,
      icon: CirclePlus,
      keywords: ['give', 'add'],
      run: () => goTo('credits', 'grant'),
    },
    {
      id: 'credits.transfer',
      title: 'Transfer credits…',
      section,
      icon: ArrowLeftRight,
      keywords: ['send', 'give'],
      run: () => goTo('credits', 'transfer'),
    },
    {
      id: 'credits.export',
      title: 'Export credit history',
      section,
      icon: Download,
      keywords: ['csv', 'download'],
      run: () => downloadHistory({}),
    },
  ],
}
