import { SquareTerminal } from 'lucide-react'
import { useCallBadge } from '../../features/terminals/calls/useCallBadge.ts'
import { useCallNotices } from '../../features/terminals/calls/useCallNotices.ts'
import { TerminalPreferencesHost } from '../../features/terminals/view/preferences/TerminalPreferencesHost.tsx'
import type { Feature } from '../../ui/feature.ts'
import { TerminalsScreen } from './TerminalsScreen.tsx'

/** First section of the window, bundled with it because loading it lazily would delay the first render. */
export const terminalsFeature: Feature = {
  id: 'terminals',
  title: 'Terminals',
  icon: SquareTerminal,
  letter: 't',
  keywords: ['sandboxes', 'machines', 'shell'],
  Screen: TerminalsScreen,
  useBadge: useCallBadge,
  Everywhere: TerminalsEverywhere,
}

/** Mounted on every screen: reports programs that request attention and provides terminal preferences. */
function TerminalsEverywhere() {
  useCallNotices()
  return <TerminalPreferencesHost />
}
