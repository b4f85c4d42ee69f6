import { activityFeature } from '../features/activity/activityFeature.tsx'
import { approvalsFeature } from '../features/approvals/approvalsFeature.tsx'
import { identityFeature } from '../features/identity/identityFeature.ts'
import { settingsFeature } from '../features/settings/settingsFeature.tsx'
import { walletFeature } from '../features/wallet/walletFeature.ts'
import type { Feature } from '../ui/feature.ts'
import { terminalsFeature } from './terminals/terminalsFeature.tsx'

/** The sections of the window, in their order. */
export const features: readonly Feature[] = [
  terminalsFeature,
  walletFeature,
  identityFeature,
  approvalsFeature,
  activityFeature,
  settingsFeature,
]
