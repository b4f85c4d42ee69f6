import { applyTheme } from '../../ui/theme/theme.ts'

applyTheme()
void import('./startTerminalLink.tsx').then(({ startTerminalLink }) => startTerminalLink())
