/**
 * The tabs with the emulator, which is as large as the rest of the window: the window is shown before it comes. Asked
 * for again it is the same.
 */
export const loadTerminalTabs = () => import('./TerminalTabs.tsx')
