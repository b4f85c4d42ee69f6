import { FitAddon } from '@xterm/addon-fit'
import { Unicode11Addon } from '@xterm/addon-unicode11'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal } from '@xterm/xterm'
import { terminalLimits } from '../../../../shared/contract/terminals.ts'
import type { Theme } from '../../../ui/theme/theme.ts'
import type { StreamState } from '../stream/streamState.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import { type StreamConnector, terminalStream } from '../stream/terminalStream.ts'
import { onPersonsInput, quietAnswers } from './quietAnswers.ts'
import { type TerminalKeyAction, terminalKeyAction } from './terminalKeys.ts'
import { type LinkHint, terminalLinks } from './terminalLinks.ts'
import { type TerminalSearch, terminalSearch } from './terminalSearch.ts'
import { terminalPalette } from './terminalTheme.ts'
import type { WebglLeases } from './webglLeases.ts'
import { webglRenderer } from './webglRenderer.ts'
import { xtermScreen } from './xtermScreen.ts'

export type Appearance = { theme: Theme; fontSize: number }

export type TerminalSessionEvents = {
  state(state: StreamState): void
  title(title: string | null): void
  refused(refusal: { error: string; code: string }): void
  hiddenOutput(): void
  key(action: TerminalKeyAction): void
  linkHint(hint: LinkHint | undefined): void
  /** How much fits into the view. */
  room(size: TerminalSize): void
}

export type TerminalSessionOptions = {
  host: HTMLElement
  connect: StreamConnector
  appearance: Appearance
  webgl: WebglLeases
  apple: boolean
  on: TerminalSessionEvents
}

export type TerminalSession = {
  readonly terminal: Terminal
  readonly search: TerminalSearch
  look(appearance: Appearance): void
  /** What is read aloud when it has the focus. */
  name(label: string, description: string): void
  show(): void
  hide(): void
  retryNow(): void
  close(): void
}

const hideCursor = '\x1b[?25l'

/** A terminal on the page: xterm.js in `host`, kept in step with the program by its stream until it is closed. */
export function terminalSession({ host, on, ...options }: TerminalSessionOptions): TerminalSession {
  let ended = false
  let frame: number | undefined
  const links = terminalLinks(on.linkHint)
  const terminal = new Terminal({
    allowProposedApi: true, // Unicode 11 and search decorations
    cursorBlink: !window.matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: getComputedStyle(host).fontFamily,
    linkHandler: links,
    macOptionIsMeta: true,
    minimumContrastRatio: 4.5,
    rescaleOverlappingGlyphs: true,
    scrollback: terminalLimits.scrollbackLines,
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  terminal.loadAddon(new Unicode11Addon())
  terminal.unicode.activeVersion = '11'
  terminal.loadAddon(new WebLinksAddon(links.activate, links))
  quietAnswers(terminal.parser)
  const search = terminalSearch(terminal)
  look(options.appearance)
  terminal.open(host)
  terminal.textarea?.addEventListener('focus', () => takeRoom())
  const renderer = webglRenderer(terminal)

  const stream = terminalStream({
    connect: options.connect,
    screen: xtermScreen(terminal),
    scrollbackLines: terminalLimits.scrollbackLines,
    writer: randomName(),
    onState(state) {
      ended = state.phase === 'ended' || state.phase === 'gone'
      terminal.options.disableStdin = ended
      if (ended) rest()
      on.state(state)
    },
    onTitle: on.title,
    onRefused: on.refused,
    onHiddenOutput: on.hiddenOutput,
  })
  onPersonsInput(terminal, (text) => stream.type(text))
  terminal.attachCustomKeyEventHandler((event) => {
    const context = { apple: options.apple, hasSelection: terminal.hasSelection() }
    const action = terminalKeyAction(event, context)
    if (action === undefined) return true
    // The browser's own paste needs no permission: it only must not be taken for typing.
    if (action !== 'paste') event.preventDefault()
    if (action !== 'paste' && event.type === 'keydown') on.key(action)
    return false
  })
  const room = new ResizeObserver(() => {
    frame ??= requestAnimationFrame(takeRoom)
  })
  room.observe(host)

  function takeRoom(): void {
    frame = undefined
    const size = fit.proposeDimensions()
    if (size === undefined || host.clientWidth === 0) return
    on.room(size)
    // What has ended is only read: it takes the room there is. What runs follows its machine's answer.
    if (ended) {
      terminal.write('', () => terminal.resize(size.cols, size.rows))
    } else stream.resize(size)
  }

  /** Takes the room there is, and then the cursor away: not at once, or the WebGL renderer keeps it on an empty screen. */
  function rest(): void {
    takeRoom()
    terminal.write('', () => {
      const drawn = terminal.onRender(() => {
        drawn.dispose()
        terminal.write(hideCursor)
      })
      terminal.refresh(0, terminal.rows - 1)
    })
  }

  function look({ theme, fontSize }: Appearance): void {
    const palette = terminalPalette(theme, getComputedStyle(host))
    terminal.options.theme = palette.theme
    search.decorate(palette.matches)
    if (terminal.options.fontSize !== fontSize) terminal.options.fontSize = fontSize
    frame ??= requestAnimationFrame(takeRoom)
  }

  return {
    terminal,
    search,
    look,
    name(label, description) {
      terminal.textarea?.setAttribute('aria-label', label)
      terminal.textarea?.setAttribute('aria-description', description)
    },
    show() {
      options.webgl.take(renderer)
      stream.show()
      takeRoom()
    },
    hide: () => stream.hide(),
    retryNow: () => stream.retryNow(),
    close() {
      room.disconnect()
      if (frame !== undefined) cancelAnimationFrame(frame)
      stream.close()
      options.webgl.giveBack(renderer)
      terminal.dispose()
    },
  }
}

function randomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
