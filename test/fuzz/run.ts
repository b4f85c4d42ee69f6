/**
 * `npm run fuzz [-- --seed N] [--seconds N]`: sends hostile output to the host's screens for half of the time, and to
 * the window for the other half. It prints its seed, which reproduces the output.
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
