/** `npm run check`: runs all checks and fails if any of them failed. */
import { checkSteps, runSteps } from './steps.ts'

process.exitCode = runSteps(checkSteps) === 0 ? 0 : 1
