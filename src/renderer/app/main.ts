import { applyTheme } from '../ui/theme/theme.ts'

// Applies the theme first, in the smallest chunk, so that everything after it renders in the right colors.
applyTheme()
void import('./startApp.tsx').then(({ startApp }) => startApp())
