import { ShieldCheck } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/place.ts'
import { ApprovalsEverywhere } from './everywhere/ApprovalsEverywhere.tsx'
import { useApprovalsBadge } from './everywhere/useApprovalsBadge.ts'

const Screen = lazy(async () => ({ default: (await import('./ApprovalsScreen.tsx')).ApprovalsScreen }))

export const approvalsFeature: Feature = {
  id: 'approvals',
  title: 'Approvals',
  icon: ShieldCheck,
  Screen,
  useBadge: useApprovalsBadge,
  Everywhere: ApprovalsEverywhere,
  commands: [
    {
      id: 'approvals.open',
      title: 'Open approvals',
      section: 'Approvals',
      icon: ShieldCheck,
      keywords: ['inbox', 'requests', 'waiting', 'sign', 'history'],
      run: () => goTo('approvals'),
    },
  ],
}
