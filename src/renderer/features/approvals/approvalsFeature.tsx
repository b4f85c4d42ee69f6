import { ShieldCheck } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { ApprovalsEverywhere } from './everywhere/ApprovalsEverywhere.tsx'
import { useApprovalsBadge } from './everywhere/useApprovalsBadge.ts'

const Screen = lazy(async () => ({ default: (await import('./ApprovalsScreen.tsx')).ApprovalsScreen }))

export const approvalsFeature: Feature = {
  id: 'approvals',
  title: 'Approvals',
  icon: ShieldCheck,
  letter: 'a',
  keywords: ['inbox', 'requests', 'waiting', 'sign', 'history'],
  Screen,
  useBadge: useApprovalsBadge,
  Everywhere: ApprovalsEverywhere,
}
