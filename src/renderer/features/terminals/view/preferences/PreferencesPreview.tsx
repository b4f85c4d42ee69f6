import { Terminal } from '@xterm/xterm'
import { useEffect, useRef, useState } from 'react'
import type { TerminalTheme } from '../themes/terminalTheme.ts'
import { createXtermOptions, prefersReducedMotion } from '../xtermOptions.ts'
import type { TerminalPreferences } from './terminalPreferences.ts'

const prompt = '\x1b[1;32mroot@build-box\x1b[0m:\x1b[1;34m~/app\x1b[0m# '
const sample = [
  `${prompt}git status --short`,
  ' \x1b[32mM\x1b[0m src/main.ts  \x1b[31mD\x1b[0m old.ts  \x1b[33m??\x1b[0m notes.md  \x1b[90m# a comment\x1b[0m',
  `${prompt}npm test`,
  ' \x1b[32m✓ 128 passed\x1b[0m  \x1b[91m✗ 1 failed\x1b[0m  \x1b[36m2.4 s\x1b[0m  \x1b[35mcoverage\x1b[0m \x1b[93m91 %\x1b[0m',
  prompt,
].join('\r\n')

type PreferencesPreviewProps = { theme: TerminalTheme; preferences: TerminalPreferences }

/** Terminal that previews the preferences, rendered like all other terminals. */
export function PreferencesPreview({ theme, preferences }: PreferencesPreviewProps) {
  const host = useRef<HTMLDivElement>(null)
  const [terminal, setTerminal] = useState<Terminal>()

  useEffect(() => {
    const element = host.current
    if (!element) return
    const preview = new Terminal({
      cols: 72,
      rows: 5,
      disableStdin: true,
      fontFamily: getComputedStyle(element).fontFamily,
    })
    preview.open(element)
    // Draws the cursor as focused without taking the focus.
    preview.textarea?.dispatchEvent(new FocusEvent('focus'))
    preview.write(sample)
    setTerminal(preview)
    return () => preview.dispose()
  }, [])

  useEffect(() => {
    if (!terminal) return
    terminal.options = createXtermOptions({
      theme,
      preferences: { ...preferences, screenReader: false },
      calm: prefersReducedMotion(),
    })
  }, [terminal, theme, preferences])

  return (
    <div
      role="img"
      aria-label={`Preview of ${theme.label}`}
      style={{ backgroundColor: theme.colors.background }}
      className="h-32 overflow-hidden rounded-control border border-edge p-2"
    >
      <div ref={host} inert className="h-full font-mono" />
    </div>
  )
}
