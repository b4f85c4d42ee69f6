/** `npm run check`: runs all checks, and fails if one failed. */
import { checkSteps, runSteps } from './steps.ts'

process.exitCode = runSteps(checkSteps) === 0 ? 0 : 1
