import { activityFeature } from '../features/activity/activityFeature.tsx'
import { approvalsFeature } from '../features/approvals/approvalsFeature.tsx'
import { chatFeature } from '../features/chat/chatFeature.tsx'
import { domainsFeature } from '../features/domains/domainsFeature.ts'
import { identityFeature } from '../features/identity/identityFeature.ts'
import { paymentsFeature } from '../features/payments/paymentsFeature.ts'
import { settingsFeature } from '../features/settings/settingsFeature.tsx'
import { walletFeature } from '../features/wallet/walletFeature.ts'
import type { Feature } from '../ui/feature.ts'
import { creditsPageFeature } from './credits/creditsPageFeature.ts'
import { terminalsFeature } from './terminals/terminalsFeature.tsx'

/** Sections of the window in display order, grouped by topic. */
export const featureGroups: readonly (readonly Feature[])[] = [
  [chatFeature, terminalsFeature, domainsFeature],
  [walletFeature, creditsPageFeature, paymentsFeature],
  [identityFeature, approvalsFeature, activityFeature],
  [settingsFeature],
]

export const features: readonly Feature[] = featureGroups.flat()

/** Feature shown first. Bundled with the window, so that it loads without another request. */
export const firstFeature: Feature = terminalsFeature

/** Returns both shortcuts of a section: `Alt` with its number, and `G` followed by its letter. */
export function listKeys(feature: Feature): string {
  return `alt+${(features.indexOf(feature) + 1) % 10}, g ${feature.letter}`
}
