import { FitAddon } from '@xterm/addon-fit'
import { WebLinksAddon } from '@xterm/addon-web-links'
import { type IDisposable, Terminal } from '@xterm/xterm'
import { limitTerminal, limitWidths } from '#shared/terminalBounds.ts'
import { type CommandTrail, createCommandTrail } from './commandTrail.ts'
import { createTargetLinkProvider } from './links/targetLinkProvider.ts'
import { createTerminalLinks, type LinkHint, type SandboxLinks } from './links/terminalLinks.ts'
import type { Observable } from './observable.ts'
import { suppressReplies } from './quietAnswers.ts'
import { type ReadingPlace, trackReadingPlace } from './readingPlace.ts'
import { createTerminalSearch, type TerminalSearch } from './terminalSearch.ts'
import { watchWorkingDirectory } from './workingDirectory.ts'
import { type Appearance, createXtermOptions } from './xtermOptions.ts'

type ColorEmitter = { fire(colors: unknown): void }
type XtermCore = { readonly _themeService: { readonly _onChangeColors: ColorEmitter } }

const colorRoundMs = 50

/** xterm.js instance with the trackers of its output. */
export type Xterm = IDisposable & {
  readonly terminal: Terminal
  readonly fit: FitAddon
  readonly search: TerminalSearch
  readonly reading: ReadingPlace
  readonly commands: CommandTrail
  readonly directory: Observable<string | undefined>
}

type Subscribe = (listener: () => void) => () => void

export type OpenXtermOptions = {
  host: HTMLElement
  appearance: Appearance
  /** Link handlers; undefined if the page shows only terminals. */
  inside: SandboxLinks | undefined
  onLinkHint(hint: LinkHint | undefined): void
  onBell(): void
  /** Subscribes to scrolling and typing of the user. */
  onMove: Subscribe
  onInput: Subscribe
}

export function openXterm({ host, appearance, inside, ...on }: OpenXtermOptions): Xterm {
  const links = createTerminalLinks(on.onLinkHint, inside)
  const terminal = new Terminal({
    allowProposedApi: true, // required for character widths and search decorations
    ...createXtermOptions(appearance),
    fontFamily: getComputedStyle(host).fontFamily,
    linkHandler: links,
    macOptionIsMeta: true,
    rescaleOverlappingGlyphs: true,
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  limitWidths(terminal)
  limitTerminal(terminal)
  terminal.loadAddon(new WebLinksAddon(links.activate, links))
  suppressReplies(terminal.parser)
  const search = createTerminalSearch(terminal)
  const reading = trackReadingPlace(terminal, on.onMove)
  const commands = createCommandTrail(terminal, on.onInput)
  const directory = watchWorkingDirectory(terminal.parser)
  if (inside) {
    const { find } = inside
    const { link } = links
    terminal.registerLinkProvider(
      createTargetLinkProvider({ buffer: () => terminal.buffer.active, folder: () => directory.now, find, link }),
    )
  }
  terminal.onBell(on.onBell)
  terminal.open(host)
  const colors = animateColors(terminal)
  return {
    terminal,
    fit,
    search,
    reading,
    commands,
    directory,
    dispose() {
      colors.dispose()
      commands.dispose()
      reading.dispose()
      terminal.dispose()
    },
  }
}

/**
 * Batches color changes. xterm.js 6.0 redraws everything for each color that a program sets (OSC 4, 10 to 12, 104, 110
 * to 112), and one sequence may contain hundreds. Colors are stored immediately, and the view is updated once.
 */
function animateColors(terminal: object): { dispose(): void } {
  const { _onChangeColors: changed } = (terminal as { _core: XtermCore })._core._themeService
  const fire = changed.fire.bind(changed)
  let round: ReturnType<typeof setTimeout> | undefined
  changed.fire = (colors) => {
    round ??= setTimeout(() => {
      round = undefined
      fire(colors)
    }, colorRoundMs)
  }
  return { dispose: () => clearTimeout(round) }
}
