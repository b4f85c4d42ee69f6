import { getSharedBrowser } from '../clients/getSharedBrowser.ts'

// Starts the browser before `leakGuard.ts` takes its baseline, so that it is not reported as a leak of a file.
await getSharedBrowser()
