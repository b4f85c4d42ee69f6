import { WebglAddon } from '@xterm/addon-webgl'
import type { Terminal } from '@xterm/xterm'
import { deviceStore } from '#renderer/storage/textStore.ts'
import type { WebglHolder } from './webglLeases.ts'

/** `dom` renders elements: slower, but tests can read its rows, and it does not depend on the graphics driver. */
export const rendererKey = 'steward.terminal.renderer'

/** A graphics driver that takes contexts away again and again is not trusted any more. */
const lossesBorne = 3

/**
 * Draws `terminal` with WebGL where there is any. When the browser takes the context away (the graphics driver failed, the
 * machine slept) elements serve until the terminal comes into view the next time.
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
        unusable = true // no WebGL here: the elements serve
        tried.dispose()
        return false
      }
      addon = tried
      tried.onContextLoss(() => {
        losses += 1
        unusable = losses >= lossesBorne
        stop()
      })
      return true
    },
    stop,
    isDrawing: () => addon !== undefined,
  }
}
