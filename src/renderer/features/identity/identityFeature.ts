import { Fingerprint, Plus } from 'lucide-react'
import { lazy } from 'react'
import type { Feature } from '../../ui/feature.ts'
import { goTo } from '../../ui/place.ts'

const Screen = lazy(async () => ({ default: (await import('./IdentityScreen.tsx')).IdentityScreen }))

export const identityFeature: Feature = {
  id: 'identity',
  title: 'Identity',
  icon: Fingerprint,
  Screen,
  commands: [
    {
      id: 'identity.open',
      title: 'Open identity',
      section: 'Identity',
      icon: Fingerprint,
      keywords: ['automatons', 'registrations', 'agents'],
      run: () => goTo('identity'),
    },
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
