import { activityFeature } from '../features/activity/activityFeature.tsx'
import { terminalsFeature } from '../features/terminals/terminalsFeature.tsx'
import type { Feature } from '../ui/feature.ts'

/** The sections of the window, in their order. */
export const features: readonly Feature[] = [terminalsFeature, activityFeature]
