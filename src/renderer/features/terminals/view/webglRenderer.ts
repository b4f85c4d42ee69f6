import { WebglAddon } from '@xterm/addon-webgl'
import type { Terminal } from '@xterm/xterm'
import type { WebglHolder } from './webglLeases.ts'

/** `dom` draws with elements: slower, but its rows can be read by tests and by whoever distrusts the graphics driver. */
export const rendererKey = 'steward.terminal.renderer'

/** Draws `terminal` with WebGL where there is any; it falls back to elements when the context fails or is lost. */
export function webglRenderer(terminal: Terminal): WebglHolder {
  let addon: WebglAddon | undefined
  let unusable = localStorage.getItem(rendererKey) === 'dom'

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
        unusable = true
        stop()
      })
      return true
    },
    stop,
  }
}
