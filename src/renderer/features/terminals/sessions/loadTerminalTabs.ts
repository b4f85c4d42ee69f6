/**
 * Loads the tabs with the terminal emulator, which is as large as the rest of the window, so that the window renders
 * first. Repeated calls return the same module.
 */
export const loadTerminalTabs = () => import('./TerminalTabs.tsx')
