/**
 * Kept clear of what a shell, an editor or a browser uses: in a terminal only ⌘, or Ctrl with Shift, is ours, and a
 * browser never gives up Ctrl+Shift with N, T or W.
 */
export const newSandboxKeys = 'mod+shift+s'
export const newTerminalKeys = 'mod+shift+enter'
export const closeTabKeys = 'mod+shift+x'
export const nextTabKeys = 'mod+shift+pagedown'
export const previousTabKeys = 'mod+shift+pageup'
export const listKeys = 'mod+shift+l, f6'
export const sideKeys = 'mod+shift+b'
export const preferencesKeys = 'mod+,'
export const previousCommandKeys = 'mod+arrowup'
export const nextCommandKeys = 'mod+arrowdown'
export const overviewKeys = 'mod+shift+o'
