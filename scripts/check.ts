/** `npm run check`: types of each world, lint and format, import arrows. Runs all, then fails if one failed. */
import { checkSteps, failedSteps } from './steps.ts'

process.exitCode = failedSteps(checkSteps) === 0 ? 0 : 1
