import { Fingerprint, Plus } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/route.ts'

const Screen = lazy(async () => ({ default: (await import('./IdentityScreen.tsx')).IdentityScreen }))

export const identityFeature: Feature = {
  id: 'identity',
  title: 'Identity',
  icon: Fingerprint,
  letter: 'i',
  keywords: ['automatons', 'registrations', 'agents'],
  Screen,
  commands: [
    {
      id: 'identity.register',
      title: 'Register automaton…',
      section: 'Identity',
      icon: Plus,
      keywords: ['new', 'identity', 'agent'],
      run: () => goTo('identity', 'new'),
    },
  ],
}
