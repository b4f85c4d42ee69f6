import { WebglAddon } from '@xterm/addon-webgl'
import type { Terminal } from '@xterm/xterm'
import { deviceStore } from '#renderer/storage/textStore.ts'
import type { WebglHolder } from './webglLeases.ts'

/**
 * `dom` renders with DOM elements. This is slower, but tests can read the rows and it does not depend on the graphics
 * driver.
 */
export const rendererKey = 'steward.terminal.renderer'

/** Number of context losses after which WebGL is disabled for the terminal. */
const maxContextLosses = 3

/**
 * Renders `terminal` with WebGL if available. After a context loss (driver error, sleep), it renders with DOM elements
 * until the terminal is next shown.
 */
export function createWebglRenderer(terminal: Terminal): WebglHolder {
  let addon: WebglAddon | undefined
  let losses = 0
  let unusable = deviceStore.get(rendererKey) === 'dom'

  function stop(): void {
    addon?.dispose()
    addon = undefined
  }

  return {
    start() {
      if (unusable) return false
      const tried = new WebglAddon()
      try {
        terminal.loadAddon(tried)
      } catch {
        unusable = true // WebGL is unavailable, so DOM elements are used
        tried.dispose()
        return false
      }
      addon = tried
      tried.onContextLoss(() => {
        losses += 1
        unusable = losses >= maxContextLosses
        stop()
      })
      return true
    },
    stop,
    isDrawing: () => addon !== undefined,
  }
}
