import { lazy } from 'react'
import { creditsFeature } from '../../features/credits/creditsFeature.ts'
import type { Feature } from '../../ui/feature.ts'

export const creditsPageFeature: Feature = {
  ...creditsFeature,
  Screen: lazy(async () => ({ default: (await import('./CreditsPage.tsx')).CreditsPage })),
}
