import { SquareTerminal } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'

export const terminalsFeature: Feature = {
  id: 'terminals',
  title: 'Terminals',
  icon: SquareTerminal,
  Screen: lazy(async () => ({ default: (await import('./TerminalsScreen.tsx')).TerminalsScreen })),
}
