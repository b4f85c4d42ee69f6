import { SquareTerminal } from 'lucide-react'
import { useCallBadge } from '../../features/terminals/calls/useCallBadge.ts'
import { useCallNotices } from '../../features/terminals/calls/useCallNotices.ts'
import { TerminalPreferencesHost } from '../../features/terminals/view/preferences/TerminalPreferencesHost.tsx'
import type { Feature } from '../../ui/feature.ts'
import { TerminalsScreen } from './TerminalsScreen.tsx'

/** The section that the window opens with. So it comes with the window: asked for later, it would be shown later. */
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

/** On every screen: tells which programs ask for the person, and has the preferences of terminals. */
function TerminalsEverywhere() {
  useCallNotices()
  return <TerminalPreferencesHost />
}
