import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import SqliteDatabase from 'better-sqlite3'

/**
 * Removes old entries of a log and kills itself before the `at`-th database write, or (`head`) before the head is
 * stored. `never` prints the number of writes.
 */
const [folder = '', crashPoint = '', now = ''] = process.argv.slice(2)
const die = (): never => process.kill(process.pid, 'SIGKILL') as never
let writes = 0
let isCutting = false

const { prepare } = SqliteDatabase.prototype
SqliteDatabase.prototype.prepare = function (this: SqliteDatabase.Database, text: string) {
  const statement = prepare.call(this, text)
  if (!/^\s*(INSERT|UPDATE|DELETE|COMMIT)/.test(text)) return statement
  const run = statement.run.bind(statement) as (...parameters: unknown[]) => unknown
  statement.run = ((...parameters: unknown[]) => {
    if (isCutting) {
      writes += 1
      if (String(writes) === crashPoint) die()
    }
    return run(...parameters)
  }) as never
  return statement
} as typeof prepare

const { rename } = fs
fs.rename = async (...parameters) => {
  if (isCutting && crashPoint === 'head') die()
  return rename(...parameters)
}
syncBuiltinESMExports()

const { openLog } = await import('../fixtures/logWithRetention.ts')
const { log, retention, close } = openLog({ folder, now: () => Number(now) })
isCutting = true
await retention.apply()
log.record({ kind: 'system.started', actor: { kind: 'system', name: 'Steward' }, summary: 'after the cut' })
if (crashPoint === 'head') await close()
if (crashPoint !== 'never') die()
await close()
process.stdout.write(`${writes}\n`)
