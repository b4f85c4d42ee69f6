import { type RefObject, useEffect, useEffectEvent, useMemo, useState } from 'react'
import { detectKeyboard, formatKeys } from '#renderer/ui/commands/shortcuts.ts'
import { listKeys, preferencesKeys } from '#renderer/ui/commands/terminalSafeKeys.ts'
import { useTheme } from '#renderer/ui/theme/useTheme.ts'
import type { StreamState } from '../stream/streamState.ts'
import type { StreamConnector } from '../stream/terminalStream.ts'
import type { LinkHint, SandboxLinks } from './links/terminalLinks.ts'
import { useTerminalPreferences } from './preferences/preferencesStore.ts'
import { resolveTheme } from './preferences/terminalPreferences.ts'
import { createTerminalSession, type TerminalSession, type TerminalSessionEvents } from './terminalSession.ts'
import { createWebglLeases, type WebglLeases } from './webglLeases.ts'
import { type Appearance, prefersReducedMotion } from './xtermOptions.ts'

const fontDeadlineMs = 2_000

export type UseTerminalSession = {
  terminalId: string
  label: string
  connect: StreamConnector
  visible: boolean
  webgl?: WebglLeases | undefined
  inside?: SandboxLinks | undefined
  on: Omit<TerminalSessionEvents, 'state' | 'linkHint'>
}

export type TerminalSessionView = {
  /** Session; undefined until the fonts are loaded and the terminal is mounted. */
  session: TerminalSession | undefined
  state: StreamState
  linkHint: LinkHint | undefined
  appearance: Appearance
}

export function useTerminalSession(
  host: RefObject<HTMLElement | null>,
  { terminalId, label, connect, visible, webgl, inside, on }: UseTerminalSession,
): TerminalSessionView {
  const appearance = useAppearance()
  const [session, setSession] = useState<TerminalSession>()
  const [state, setState] = useState<StreamState>({ phase: 'connecting' })
  const [linkHint, setLinkHint] = useState<LinkHint>()
  const [ownLease] = useState(() => createWebglLeases(1))

  const opened = useEffectEvent((element: HTMLElement) =>
    createTerminalSession({
      terminalId,
      host: element,
      connect,
      appearance,
      webgl: webgl ?? ownLease,
      apple: detectKeyboard().apple,
      inside: inside && latestInside,
      on: { ...on, ...latest, state: setState, linkHint: setLinkHint },
    }),
  )
  // The session outlives renders of the view, so its events must call the latest handlers.
  const latest: UseTerminalSession['on'] = {
    title: useEffectEvent(on.title),
    refused: useEffectEvent(on.refused),
    hiddenOutput: useEffectEvent(on.hiddenOutput),
    key: useEffectEvent(on.key),
    room: useEffectEvent(on.room),
    bell: useEffectEvent(on.bell),
    pasteRefused: useEffectEvent(on.pasteRefused),
    used: useEffectEvent(on.used),
    again: useEffectEvent(on.again),
    typed: useEffectEvent(on.typed),
  }

  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of terminal opens another session
  useEffect(() => {
    const element = host.current
    if (!element) return
    const leaving = new AbortController()
    void loadTerminalFonts(element).then(() => {
      if (leaving.signal.aborted) return
      const created = opened(element)
      leaving.signal.addEventListener('abort', () => created.close())
      setSession(created)
    })
    return () => {
      leaving.abort()
      setSession(undefined)
      setState({ phase: 'connecting' })
    }
  }, [host, terminalId])

  const latestInside: SandboxLinks = {
    find: useEffectEvent(async (path, folder) => inside?.find(path, folder)),
    open: useEffectEvent((place) => inside?.open(place)),
    previewPort: useEffectEvent(() => inside?.previewPort()),
  }

  useEffect(() => {
    if (visible) session?.show()
    else session?.hide()
  }, [session, visible])

  useEffect(() => session?.look(appearance), [session, appearance])
  const { screenReader } = appearance.preferences
  useEffect(() => session?.name(label, describeTerminal(screenReader)), [session, label, screenReader])

  return { session, state, linkHint, appearance }
}

function useAppearance(): Appearance {
  const around = useTheme()
  const preferences = useTerminalPreferences()
  return useMemo(
    () => ({ theme: resolveTheme(preferences, around), preferences, calm: prefersReducedMotion() }),
    [preferences, around],
  )
}

/**
 * Loads the fonts. A terminal measures its cells once, when opened, so the fonts must be loaded before. Continues
 * without them on error.
 */
async function loadTerminalFonts(host: HTMLElement): Promise<void> {
  const family = getComputedStyle(host).fontFamily
  const loaded = Promise.all([document.fonts.load(`13px ${family}`), document.fonts.load(`bold 13px ${family}`)])
  const late = new Promise<void>((resolve) => setTimeout(resolve, fontDeadlineMs))
  await Promise.race([loaded.then(() => {}), late]).catch(() => {})
}

/** Returns the accessible description, which explains how to leave the terminal, because it captures the Tab key. */
function describeTerminal(screenReader: boolean): string {
  const keyboard = detectKeyboard()
  const wayOut = `To leave the terminal, press ${formatKeys(listKeys, keyboard).join(' ')}.`
  if (screenReader) return `${wayOut} Output is read aloud.`
  return `${wayOut} To have output read aloud, turn it on in the terminal preferences: ${formatKeys(preferencesKeys, keyboard).join(' ')}.`
}
