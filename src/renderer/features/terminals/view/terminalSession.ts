import { FitAddon } from '@xterm/addon-fit'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { Terminal } from '@xterm/xterm'
import { createEmitter } from '#shared/emitter.ts'
import { boundTerminal, boundWidths } from '#shared/terminalBounds.ts'
import type { StreamState } from '../stream/streamState.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import { createTerminalStream, type StreamConnector } from '../stream/terminalStream.ts'
import { type ClipboardRequests, createAnswerStore, handleClipboardRequests } from './clipboardRequests.ts'
import { animateColors } from './colorRounds.ts'
import { type CommandTrail, createCommandTrail } from './commandTrail.ts'
import { placeLinks } from './links/placeLinks.ts'
import { createTerminalLinks, type LinkHint, type SandboxLinks } from './links/terminalLinks.ts'
import type { Observable } from './observable.ts'
import { createTerminalPaste, type TerminalPaste } from './paste/terminalPaste.ts'
import { followPointer } from './pointer.ts'
import { muteAnswers, onPersonsInput } from './quietAnswers.ts'
import { type ReadingPlace, trackReadingPlace } from './readingPlace.ts'
import { readClipboard, writeClipboard } from './terminalClipboard.ts'
import { findTerminalKeyAction, type TerminalKeyAction } from './terminalKeys.ts'
import { createTerminalSearch, type TerminalSearch } from './terminalSearch.ts'
import { paletteColors } from './themes/terminalTheme.ts'
import { createXtermPalette } from './themes/xtermPalette.ts'
import type { WebglLeases } from './webglLeases.ts'
import { createWebglRenderer } from './webglRenderer.ts'
import { watchWorkingDirectory } from './workingDirectory.ts'
import { type Appearance, createXtermOptions } from './xtermOptions.ts'
import { createXtermScreen } from './xtermScreen.ts'

export type TerminalSessionEvents = {
  state(state: StreamState): void
  title(title: string | null): void
  refused(refusal: { error: string; code: string }): void
  hiddenOutput(): void
  key(action: TerminalKeyAction): void
  linkHint(hint: LinkHint | undefined): void
  /** Called with the size that fits the view. */
  room(size: TerminalSize): void
  bell(): void
  /** Called when the browser denied access to the clipboard. */
  pasteRefused(): void
  /** The person did something in it. */
  used(): void
  /** Called when the user pressed Enter in an ended terminal. */
  again(): void
  /** The person's own input, and not what `type` was given. */
  typed(text: string): void
}

export type TerminalSessionOptions = {
  terminalId: string
  host: HTMLElement
  connect: StreamConnector
  appearance: Appearance
  webgl: WebglLeases
  apple: boolean
  /** Absent where the page shows nothing of the sandbox but its terminals. */
  inside: SandboxLinks | undefined
  on: TerminalSessionEvents
}

export type TerminalSession = {
  readonly terminal: Terminal
  readonly search: TerminalSearch
  readonly paste: TerminalPaste
  readonly clipboard: ClipboardRequests
  readonly commands: CommandTrail
  readonly reading: ReadingPlace
  readonly directory: Observable<string | undefined>
  /** As if it had been typed here. */
  type(text: string): void
  look(appearance: Appearance): void
  /** Sets the accessible label and description. */
  name(label: string, description: string): void
  pasteClipboard(): void
  show(): void
  hide(): void
  retryNow(): void
  close(): void
}

const hideCursor = '\x1b[?25l'

/** Creates a terminal on the page: xterm.js in `host`, synchronized with the program by its stream until closed. */
export function createTerminalSession({ host, on, ...options }: TerminalSessionOptions): TerminalSession {
  let ended = false
  let frame: number | undefined
  let { appearance } = options
  const closing = new AbortController()
  const moves = createEmitter()
  const inputs = createEmitter()
  const preferences = () => appearance.preferences
  const links = createTerminalLinks(on.linkHint, options.inside)
  const terminal = new Terminal({
    allowProposedApi: true, // widths of characters and search decorations
    ...createXtermOptions(appearance),
    fontFamily: getComputedStyle(host).fontFamily,
    linkHandler: links,
    macOptionIsMeta: true,
    rescaleOverlappingGlyphs: true,
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  boundWidths(terminal)
  boundTerminal(terminal)
  terminal.loadAddon(new WebLinksAddon(links.activate, links))
  muteAnswers(terminal.parser)
  const search = createTerminalSearch(terminal)
  const reading = trackReadingPlace(terminal, moves.subscribe)
  const commands = createCommandTrail(terminal, inputs.subscribe)
  const directory = watchWorkingDirectory(terminal.parser)
  if (options.inside) {
    const { find } = options.inside
    const { link } = links
    terminal.registerLinkProvider(
      placeLinks({ buffer: () => terminal.buffer.active, folder: () => directory.now, find, link }),
    )
  }
  const clipboard = handleClipboardRequests({
    parser: terminal.parser,
    policy: () => preferences().programClipboard,
    remembered: createAnswerStore(options.terminalId),
    write: writeClipboard,
  })
  terminal.onBell(on.bell)
  terminal.open(host)
  const colors = animateColors(terminal)
  terminal.textarea?.addEventListener('focus', () => {
    takeRoom()
    tellColors()
  })
  const renderer = createWebglRenderer(terminal)

  const screen = createXtermScreen(terminal, commands.take)
  const stream = createTerminalStream({
    connect: options.connect,
    screen,
    scrollbackLines: preferences().scrollback,
    writer: randomName(),
    onState(state) {
      ended = state.phase === 'ended' || state.phase === 'gone'
      terminal.options.disableStdin = ended
      if (ended) {
        paste.stop()
        rest()
      }
      on.state(state)
    },
    onTitle: on.title,
    onRefused(refusal) {
      if (refusal.code === 'terminal/input-full') paste.stop()
      on.refused(refusal)
    },
    onHiddenOutput: on.hiddenOutput,
    onInputArrived: () => paste.arrived(),
  })
  const paste = createTerminalPaste({
    isBracketed: () => terminal.modes.bracketedPasteMode,
    warns: () => preferences().pasteWarning,
    type,
  })
  onPersonsInput(terminal, paste.typed)
  host.addEventListener('wheel', moved, { passive: true, signal: closing.signal })
  host.addEventListener('pointerdown', moved, { signal: closing.signal })
  host.addEventListener('keydown', moved, { capture: true, signal: closing.signal })
  host.addEventListener('paste', takePaste, { capture: true, signal: closing.signal })
  followPointer({ host, terminal, preferences, paste: pasteClipboard, signal: closing.signal })
  terminal.attachCustomKeyEventHandler((event) => {
    if (ended && isPlain(event)) {
      // The program has ended, so Tab and Escape belong to the page.
      if (event.key === 'Tab' || event.key === 'Escape') return false
      if (event.key === 'Enter') {
        event.preventDefault()
        if (event.type === 'keydown' && !event.repeat) on.again()
        return false
      }
    }
    const context = { apple: options.apple, hasSelection: terminal.hasSelection(), canJump: commands.canJump() }
    const action = findTerminalKeyAction(event, context)
    if (action === undefined) return true
    // The browser's own paste needs no permission: it only must not be taken for typing.
    if (action !== 'paste') event.preventDefault()
    if (action !== 'paste' && event.type === 'keydown') on.key(action)
    return false
  })
  look(appearance)
  const room = new ResizeObserver(() => {
    frame ??= requestAnimationFrame(takeRoom)
  })
  room.observe(host)

  function takeRoom(): void {
    frame = undefined
    const size = fit.proposeDimensions()
    if (size === undefined || host.clientWidth === 0) return
    on.room(size)
    // An ended terminal fits the view. A running one takes the size that its machine confirms.
    if (ended) {
      screen.resize(size)
    } else stream.resize(size)
  }

  /** Takes the room there is, and then the cursor away: not at once, or the WebGL renderer keeps it on an empty screen. */
  function rest(): void {
    takeRoom()
    screen.write(new Uint8Array(0), () => {
      const drawn = terminal.onRender(() => {
        drawn.dispose()
        terminal.write(hideCursor)
      })
      terminal.refresh(0, terminal.rows - 1)
    })
  }

  function look(next: Appearance): void {
    appearance = next
    terminal.options = createXtermOptions(next)
    search.decorate(createXtermPalette(next.theme).matches)
    tellColors()
    frame ??= requestAnimationFrame(takeRoom)
  }

  function tellColors(): void {
    const { background, foreground, cursor, ...others } = appearance.theme.colors
    stream.draws({ background, foreground, cursor, palette: paletteColors.map((color) => others[color]) })
  }

  function moved(): void {
    moves.emit()
    on.used()
  }

  /** Typing scrolls to the end. */
  function type(text: string): boolean {
    moves.emit()
    inputs.emit()
    terminal.scrollToBottom()
    on.typed(text)
    return stream.type(text)
  }

  function takePaste(event: ClipboardEvent): void {
    event.preventDefault()
    event.stopPropagation()
    if (!ended) paste.paste(event.clipboardData?.getData('text/plain') ?? '')
  }

  function pasteClipboard(): void {
    void readClipboard().then((text) => {
      if (closing.signal.aborted) return
      if (text === undefined) on.pasteRefused()
      else if (!ended) paste.paste(text)
      if (paste.question.now === undefined) terminal.focus()
    })
  }

  return {
    terminal,
    search,
    paste,
    clipboard,
    commands,
    reading,
    directory,
    type: (text) => void stream.type(text),
    look,
    pasteClipboard,
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
      closing.abort()
      room.disconnect()
      if (frame !== undefined) cancelAnimationFrame(frame)
      stream.close()
      options.webgl.giveBack(renderer)
      screen.close()
      colors.dispose()
      commands.dispose()
      reading.dispose()
      terminal.dispose()
    },
  }
}

function isPlain({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return !ctrlKey && !metaKey && !altKey
}

function randomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
