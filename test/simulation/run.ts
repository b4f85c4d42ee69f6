/**
 * `npm run simulate [-- --seed N] [-- --minutes M]`: runs histories of the ledger over failing disks and networks. A
 * failure prints its seed, which reproduces the history.
 */
import { parseArgs } from 'node:util'
import { ledgerHistory } from './ledgerHistory.ts'

const { values } = parseArgs({ options: { seed: { type: 'string' }, minutes: { type: 'string', default: '1' } } })

async function oneHistory(seed: number): Promise<boolean> {
  try {
    await ledgerHistory(seed)
    return true
  } catch (error) {
    process.stdout.write(`seed ${seed} fails: npm run simulate -- --seed ${seed}\n${String(error)}\n`)
    if (error instanceof Error) process.stdout.write(`${error.stack}\n`)
    return false
  }
}

async function manyHistories(minutes: number): Promise<boolean> {
  const first = Math.floor(Math.random() * 2 ** 31)
  const endsAtMs = Date.now() + minutes * 60_000
  let histories = 0
  while (Date.now() < endsAtMs) {
    if (!(await oneHistory(first + histories))) return false
    histories += 1
  }
  process.stdout.write(`${histories} histories from seed ${first} on: all as they should be\n`)
  return true
}

async function repeatHistory(seed: number): Promise<boolean> {
  const isFine = await oneHistory(seed)
  if (isFine) process.stdout.write(`the history of seed ${seed}: all as it should be\n`)
  return isFine
}

const isFine =
  values.seed === undefined ? await manyHistories(Number(values.minutes)) : await repeatHistory(Number(values.seed))
process.exitCode = isFine ? 0 : 1
