import { getSharedBrowser } from './getSharedBrowser.ts'

// Before `leakGuard.ts` looks what is there, so that no file seems to have left it.
await getSharedBrowser()
