import { useCallNotices } from '../../features/terminals/calls/useCallNotices.ts'
import { TerminalPreferencesHost } from '../../features/terminals/view/preferences/TerminalPreferencesHost.tsx'

/** On every screen: tells which programs ask for the person, and has the preferences of terminals. */
export function TerminalsEverywhere() {
  useCallNotices()
  return <TerminalPreferencesHost />
}
