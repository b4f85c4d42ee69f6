import type { Terminal } from '@xterm/xterm'
import { createEmitter, type Emitter } from '#shared/emitter.ts'
import type { StreamState } from '../stream/streamState.ts'
import type { TerminalSize } from '../stream/terminalScreen.ts'
import { createTerminalStream, type StreamConnector, type TerminalStream } from '../stream/terminalStream.ts'
import { type ClipboardRequests, createAnswerStore, handleClipboardRequests } from './clipboardRequests.ts'
import type { CommandTrail } from './commandTrail.ts'
import type { LinkHint, SandboxLinks } from './links/terminalLinks.ts'
import type { Observable } from './observable.ts'
import { openXterm, type Xterm } from './openXterm.ts'
import { createTerminalPaste, type TerminalPaste } from './paste/terminalPaste.ts'
import { followPointer } from './pointer.ts'
import { onUserInput } from './quietAnswers.ts'
import type { ReadingPlace } from './readingPlace.ts'
import { readClipboard, writeClipboard } from './terminalClipboard.ts'
import { findTerminalKeyAction, type TerminalKeyAction } from './terminalKeys.ts'
import type { TerminalSearch } from './terminalSearch.ts'
import { paletteColors } from './themes/terminalTheme.ts'
import { createXtermPalette } from './themes/xtermPalette.ts'
import type { WebglHolder, WebglLeases } from './webglLeases.ts'
import { createWebglRenderer } from './webglRenderer.ts'
import { type Appearance, createXtermOptions } from './xtermOptions.ts'
import { type ClosableScreen, createXtermScreen } from './xtermScreen.ts'

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
  /** Called when the user interacted with the terminal. */
  used(): void
  /** Called when the user pressed Enter in an ended terminal. */
  again(): void
  /** Called with input of the user, excluding the text passed to `type`. */
  typed(text: string): void
}

export type TerminalSessionOptions = {
  terminalId: string
  host: HTMLElement
  connect: StreamConnector
  appearance: Appearance
  webgl: WebglLeases
  apple: boolean
  /** Link handlers; undefined if the page shows only terminals. */
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
  /** Sends text as if typed in this terminal. */
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

type SessionState = {
  readonly options: TerminalSessionOptions
  readonly xterm: Xterm
  readonly screen: ClosableScreen
  readonly stream: TerminalStream
  readonly renderer: WebglHolder
  readonly paste: TerminalPaste
  readonly clipboard: ClipboardRequests
  readonly moves: Emitter<void>
  readonly inputs: Emitter<void>
  readonly closing: AbortController
  appearance: Appearance
  isEnded: boolean
  /** Animation frame that fits the terminal to the view. */
  frame: number | undefined
}

/**
 * Creates a terminal on the page: xterm.js in `host`, synchronized with the program through its stream until closed.
 */
export function createTerminalSession(options: TerminalSessionOptions): TerminalSession {
  const session = createSessionState(options)
  const { xterm, screen, stream, renderer, paste, clipboard, closing } = session
  const { terminal, search, commands, reading, directory } = xterm
  listenToUser(session)
  look(session, session.appearance)
  const room = new ResizeObserver(() => fitLater(session))
  room.observe(options.host)
  return {
    terminal,
    search,
    paste,
    clipboard,
    commands,
    reading,
    directory,
    type: (text) => void stream.type(text),
    look: (appearance) => look(session, appearance),
    pasteClipboard: () => pasteClipboard(session),
    name(label, description) {
      terminal.textarea?.setAttribute('aria-label', label)
      terminal.textarea?.setAttribute('aria-description', description)
    },
    show() {
      options.webgl.take(renderer)
      stream.show()
      fitToView(session)
    },
    hide: () => stream.hide(),
    retryNow: () => stream.retryNow(),
    close() {
      closing.abort()
      room.disconnect()
      if (session.frame !== undefined) cancelAnimationFrame(session.frame)
      stream.close()
      options.webgl.giveBack(renderer)
      screen.close()
      xterm.dispose()
    },
  }
}

function createSessionState(options: TerminalSessionOptions): SessionState {
  const { host, on, appearance, inside } = options
  const moves = createEmitter()
  const inputs = createEmitter()
  const xterm = openXterm({
    host,
    appearance,
    inside,
    onLinkHint: on.linkHint,
    onBell: on.bell,
    onMove: moves.subscribe,
    onInput: inputs.subscribe,
  })
  const { terminal, commands } = xterm
  const getPreferences = () => session.appearance.preferences
  const clipboard = handleClipboardRequests({
    parser: terminal.parser,
    policy: () => getPreferences().programClipboard,
    remembered: createAnswerStore(options.terminalId),
    write: writeClipboard,
  })
  terminal.textarea?.addEventListener('focus', () => {
    fitToView(session)
    sendColors(session)
  })
  const renderer = createWebglRenderer(terminal)
  const screen = createXtermScreen(terminal, commands.take)
  const stream = createTerminalStream({
    connect: options.connect,
    screen,
    scrollbackLines: appearance.preferences.scrollback,
    writer: createRandomName(),
    onState: (state) => handleState(session, state),
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
    warns: () => getPreferences().pasteWarning,
    type: (text) => typeText(session, text),
  })
  const parts = { options, xterm, screen, stream, renderer, paste, clipboard, moves, inputs }
  const session: SessionState = {
    ...parts,
    closing: new AbortController(),
    appearance,
    isEnded: false,
    frame: undefined,
  }
  return session
}

function handleState(session: SessionState, state: StreamState): void {
  const { options, xterm, paste } = session
  session.isEnded = state.phase === 'ended' || state.phase === 'gone'
  xterm.terminal.options.disableStdin = session.isEnded
  if (session.isEnded) {
    paste.stop()
    pauseSession(session)
  }
  options.on.state(state)
}

function listenToUser(session: SessionState): void {
  const { options, xterm, paste, moves, closing } = session
  const { host, on } = options
  const { terminal } = xterm
  const { signal } = closing
  const handleMove = () => {
    moves.emit()
    on.used()
  }
  onUserInput(terminal, paste.typed)
  host.addEventListener('wheel', handleMove, { passive: true, signal })
  host.addEventListener('pointerdown', handleMove, { signal })
  host.addEventListener('keydown', handleMove, { capture: true, signal })
  host.addEventListener('paste', (event) => handlePaste(session, event), { capture: true, signal })
  followPointer({
    host,
    terminal,
    preferences: () => session.appearance.preferences,
    paste: () => pasteClipboard(session),
    signal,
  })
  terminal.attachCustomKeyEventHandler((event) => handleKey(session, event))
}

/** @returns whether the terminal handles the key */
function handleKey({ options, xterm, isEnded }: SessionState, event: KeyboardEvent): boolean {
  const { apple, on } = options
  const { terminal, commands } = xterm
  if (isEnded && isPlain(event)) {
    // The program has ended, so the page handles Tab and Escape.
    if (event.key === 'Tab' || event.key === 'Escape') return false
    if (event.key === 'Enter') {
      event.preventDefault()
      if (event.type === 'keydown' && !event.repeat) on.again()
      return false
    }
  }
  const context = { apple, hasSelection: terminal.hasSelection(), canJump: commands.canJump() }
  const action = findTerminalKeyAction(event, context)
  if (action === undefined) return true
  // The browser's native paste needs no permission. The key must only not be handled as typing.
  if (action !== 'paste') event.preventDefault()
  if (action !== 'paste' && event.type === 'keydown') on.key(action)
  return false
}

function fitLater(session: SessionState): void {
  session.frame ??= requestAnimationFrame(() => fitToView(session))
}

function fitToView(session: SessionState): void {
  const { options, xterm, screen, stream, isEnded } = session
  session.frame = undefined
  const size = xterm.fit.proposeDimensions()
  if (size === undefined || options.host.clientWidth === 0) return
  options.on.room(size)
  // An ended terminal is resized to fit the view. A running one takes the size that its host confirms.
  if (isEnded) {
    screen.resize(size)
  } else stream.resize(size)
}

/**
 * Fits the terminal to the view and then hides the cursor. Hiding it immediately would leave it visible on an empty
 * screen with the WebGL renderer.
 */
function pauseSession(session: SessionState): void {
  const { screen, xterm } = session
  const { terminal } = xterm
  fitToView(session)
  screen.write(new Uint8Array(0), () => {
    const drawn = terminal.onRender(() => {
      drawn.dispose()
      terminal.write(hideCursor)
    })
    terminal.refresh(0, terminal.rows - 1)
  })
}

function look(session: SessionState, appearance: Appearance): void {
  const { terminal, search } = session.xterm
  session.appearance = appearance
  terminal.options = createXtermOptions(appearance)
  search.decorate(createXtermPalette(appearance.theme).matches)
  sendColors(session)
  fitLater(session)
}

function sendColors({ appearance, stream }: SessionState): void {
  const { background, foreground, cursor, ...others } = appearance.theme.colors
  stream.draws({ background, foreground, cursor, palette: paletteColors.map((color) => others[color]) })
}

/** Typing scrolls to the end. */
function typeText({ options, xterm, stream, moves, inputs }: SessionState, text: string): boolean {
  moves.emit()
  inputs.emit()
  xterm.terminal.scrollToBottom()
  options.on.typed(text)
  return stream.type(text)
}

function handlePaste({ paste, isEnded }: SessionState, event: ClipboardEvent): void {
  event.preventDefault()
  event.stopPropagation()
  if (!isEnded) paste.paste(event.clipboardData?.getData('text/plain') ?? '')
}

function pasteClipboard(session: SessionState): void {
  const { options, xterm, paste, closing } = session
  void readClipboard().then((text) => {
    if (closing.signal.aborted) return
    if (text === undefined) options.on.pasteRefused()
    else if (!session.isEnded) paste.paste(text)
    if (paste.question.now === undefined) xterm.terminal.focus()
  })
}

function isPlain({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return !ctrlKey && !metaKey && !altKey
}

function createRandomName(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
