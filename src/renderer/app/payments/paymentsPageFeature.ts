import { lazy } from 'react'
import { paymentsFeature } from '../../features/payments/paymentsFeature.ts'
import type { Feature } from '../../ui/feature.ts'

export const paymentsPageFeature: Feature = {
  ...paymentsFeature,
  Screen: lazy(async () => ({ default: (await import('./PaymentsPage.tsx')).PaymentsPage })),
}
