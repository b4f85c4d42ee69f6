import type { Terminal } from '@xterm/headless'
import type { ScreenCore } from './screenCore.ts'

/**
 * Builds sequences that set a new terminal to the modes of this one. The serializer's own list omits cursor visibility,
 * mouse encoding, scrolling region and line drawing, and moves the cursor by setting the origin mode.
 */
export function buildModeSequences(terminal: Terminal, core: ScreenCore): string {
  const { modes } = terminal
  return [
    modes.applicationCursorKeysMode && '\x1b[?1h',
    modes.applicationKeypadMode && '\x1b=',
    modes.bracketedPasteMode && '\x1b[?2004h',
    modes.insertMode && '\x1b[4h',
    modes.reverseWraparoundMode && '\x1b[?45h',
    modes.sendFocusMode && '\x1b[?1004h',
    !modes.wraparoundMode && '\x1b[?7l',
    mouseTracking[modes.mouseTrackingMode],
    mouseEncodings[core.mouseEncoding()],
    // Within a synchronized frame, the viewer shows nothing until the frame ends.
    modes.synchronizedOutputMode && '\x1b[?2026h',
    core.cursorHidden() && '\x1b[?25l',
    formatRegion(terminal, core),
    core.drawsLines(0) && '\x1b(0',
    core.drawsLines(1) && '\x1b)0',
    core.selectedSet() === 1 && '\x0e',
  ]
    .filter((sequence) => typeof sequence === 'string')
    .join('')
}

const mouseTracking: Readonly<Record<string, string>> = {
  x10: '\x1b[?9h',
  vt200: '\x1b[?1000h',
  drag: '\x1b[?1002h',
  any: '\x1b[?1003h',
}
const mouseEncodings: Readonly<Record<string, string>> = { SGR: '\x1b[?1006h', SGR_PIXELS: '\x1b[?1016h' }

/**
 * Restores the cursor after setting a region or the origin mode, which moves it home. In origin mode, positions are
 * relative to the region.
 */
function formatRegion(terminal: Terminal, core: ScreenCore): string {
  const { top, bottom } = core.margins()
  const { originMode } = terminal.modes
  const whole = top === 0 && bottom === terminal.rows - 1
  if (whole && !originMode) return ''
  const { cursorX, cursorY } = terminal.buffer.active
  const row = cursorY - (originMode ? top : 0) + 1
  const margins = whole ? '' : `\x1b[${top + 1};${bottom + 1}r`
  return `${margins}${originMode ? '\x1b[?6h' : ''}\x1b[${row};${Math.min(cursorX, terminal.cols - 1) + 1}H`
}
