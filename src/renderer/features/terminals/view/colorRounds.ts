type Emitter = { fire(colors: unknown): void }
type Core = { readonly _themeService: { readonly _onChangeColors: Emitter } }

const roundMs = 50

/**
 * Batches color changes: xterm.js 6.0 redraws everything for each color that a program sets (OSC 4, 10 to 12, 104, 110
 * to 112), which may be hundreds in one sequence. Colors are stored immediately, and the view is updated once.
 */
export function animateColors(terminal: object): { dispose(): void } {
  const { _onChangeColors: changed } = (terminal as { _core: Core })._core._themeService
  const fire = changed.fire.bind(changed)
  let round: ReturnType<typeof setTimeout> | undefined
  changed.fire = (colors) => {
    round ??= setTimeout(() => {
      round = undefined
      fire(colors)
    }, roundMs)
  }
  return { dispose: () => clearTimeout(round) }
}
