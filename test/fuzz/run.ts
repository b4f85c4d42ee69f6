/**
 * `npm run fuzz [-- --seed N] [--seconds N]`: output that means no good, half of the time for the host's screens and half for
 * the window. It prints its seed, with which the same output comes again.
 */
import { parseArgs } from 'node:util'
import { fuzzHost } from './fuzzHost.ts'
import { fuzzWindow } from './fuzzWindow.ts'

const { values } = parseArgs({ options: { seed: { type: 'string' }, seconds: { type: 'string', default: '120' } } })
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
const ms = (Number(values.seconds) * 1_000) / 2
process.stdout.write(`seed ${seed}\n`)
for (const [side, fuzz] of Object.entries({ host: fuzzHost, window: fuzzWindow })) {
  const { bytes, questions, megabytes } = await fuzz({ seed, ms, deadlineMs: 2_000 })
  process.stdout.write(`${side}: ${bytes} bytes, ${questions} answers in time, at most ${megabytes} MB\n`)
}
