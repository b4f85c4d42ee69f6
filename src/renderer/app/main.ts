import { applyTheme } from '../ui/theme/theme.ts'

// The theme first, in the smallest of chunks: what follows draws in the right colors from the start.
applyTheme()
void import('./startApp.tsx').then(({ startApp }) => startApp())
